"""Prints the candidates of the first collective of an --explain=json file."""
import json
import sys

for c in json.load(open(sys.argv[1], encoding="utf-8"))["collectives"][0]["candidates"]:
    print(f"{c['what']} {c['bytes']} elements {c['elements']}: {' '.join(c['operands'])} > {' '.join(c['results'])}")
