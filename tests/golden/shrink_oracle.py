#!/usr/bin/env python3
"""Copies recorded TFJob cases without what the comparison ignores. usage: shrink_oracle.py FROM TO"""
import glob
import os
import sys

import yaml

KINDS = ('TFJob', 'Pod', 'Service', 'Event')


def shrink(item):
    item['metadata'].pop('managedFields', None)
    if item['kind'] == 'Pod':
        item['status'] = {'phase': item['status'].get('phase', '')}
    return item


def main(source, target):
    for path in sorted(glob.glob(f'{source}/*/[0-9][0-9]-*.yaml')):
        case = os.path.basename(os.path.dirname(path))
        if case == 'tutorial':
            continue  # it has a folder of its own
        os.makedirs(f'{target}/{case}', exist_ok=True)
        with open(path) as f:
            items = [i for d in yaml.load_all(f, yaml.CSafeLoader) for i in d.get('items', [d])]
        items = [shrink(i) for i in items if i['kind'] in KINDS]
        with open(f'{target}/{case}/{os.path.basename(path)}', 'w') as f:
            yaml.dump({'apiVersion': 'v1', 'kind': 'List', 'items': items}, f, yaml.CSafeDumper, width=200)
        with open(f'{source}/{case}/input.yaml') as f, open(f'{target}/{case}/input.yaml', 'w') as out:
            out.write(f.read())


main(*sys.argv[1:])
