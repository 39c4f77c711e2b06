#!/usr/bin/env python3
"""Turns manifests/eci-catalogue.yaml into rows of C++: eci_catalogue.py IN OUT."""
import re
import sys


def value(text, key, default):
    found = re.search(rf"\b{key}: ([\w.-]+)", text)
    return found.group(1) if found else default


def rows(lines):
    family = {}
    for number, line in enumerate(lines, 1):
        line = line.split("#")[0].rstrip()
        if line.startswith("- family:"):
            family = {"name": line.split()[-1], "gpu": "", "nvlink": "false", "eci": "true"}
        elif re.match(r"  (gpu|nvlink|eci): ", line):
            family[line.split(":")[0].strip()] = line.split()[-1]
        elif line.startswith("  - {"):
            if not re.fullmatch(r"  - \{name: [\w.-]+(, (vcpu|memoryGiB|gpus|hourly): [\d.]+)+\}", line):
                sys.exit(f"eci-catalogue.yaml:{number}: not a type of the form the comment on top says: {line}")
            yield (f'{{"{value(line, "name", "")}", "{family["name"]}", {value(line, "vcpu", 0)}, '
                   f'{value(line, "memoryGiB", 0)}, {value(line, "gpus", 0)}, "{family["gpu"]}", '
                   f'{family["nvlink"]}, {family["eci"]}, {value(line, "hourly", 0)}}},')
        elif line and not re.match(r"(prices|families):|  types:", line):
            sys.exit(f"eci-catalogue.yaml:{number}: not understood: {line}")


def main():
    lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
    prices = next(line for line in lines if line.startswith("prices:"))
    names = ("vcpuHour", "economyVcpuHour", "memoryGiBHour")
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("// Made from manifests/eci-catalogue.yaml.\n")
        out.write(f"constexpr EciPrices kPrices{{{', '.join(value(prices, n, 0) for n in names)}}};\n")
        out.write("constexpr EciType kTypes[] = {\n")
        out.writelines(f"    {row}\n" for row in rows(lines))
        out.write("};\n")


main()
