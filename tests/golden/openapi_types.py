#!/usr/bin/env python3
"""Prints the fields of the recorded API, a type a line: NAME | field field:TYPE ...

usage: openapi_types.py CORE.json KUBEFLOW.json > tests/golden/openapi_types.txt
A field of another type names it; the members of a map or list are meant just so."""
import json
import sys

ROOTS = ('PodTemplateSpec', 'ConfigMap', 'Secret', 'Service', 'PersistentVolumeClaim', 'PersistentVolume')


def main(core_file, kubeflow_file):
    with open(core_file) as f:
        core = json.load(f)['components']['schemas']
    with open(kubeflow_file) as f:
        kubeflow = json.load(f)['components']['schemas']
    types = {}

    def name_of(schema):
        if len(schema.get('allOf', [])) == 1:
            return name_of(schema['allOf'][0])
        if '$ref' in schema:
            return schema['$ref'].split('/')[-1]
        for inner in ('items', 'additionalProperties'):
            if isinstance(schema.get(inner), dict):
                return name_of(schema[inner])
        return None

    def take(full):
        short = full.split('.')[-1]
        if short in types or not core[full].get('properties'):
            return short if short in types else None
        types[short] = None  # a type may hold itself
        fields = []
        for field, schema in core[full]['properties'].items():
            other = name_of(schema)
            inner = take(other) if other else None
            fields.append(f'{field}:{inner}' if inner else field)
        types[short] = fields
        return short

    def inline(name, schema):
        fields = []
        for field, member in (schema.get('properties') or {}).items():
            for inner in ('items', 'additionalProperties'):
                member = member.get(inner) if isinstance(member.get(inner), dict) else member
            if field == 'template':
                fields.append('template:PodTemplateSpec')
            elif field == 'metadata':
                fields.append('metadata:ObjectMeta')
            elif field != 'status' and member.get('properties'):
                inline(f'{name}.{field}', member)
                fields.append(f'{field}:{name}.{field}')
            else:
                fields.append(field)
        types[name] = fields

    for root in ROOTS:
        take('io.k8s.api.core.v1.' + root)
    inline('TFJob', kubeflow['org.kubeflow.v1.TFJob'])
    for name in sorted(types):
        if not name.endswith('Status'):
            print(f'{name} | {" ".join(sorted(types[name]))}')


main(*sys.argv[1:])
