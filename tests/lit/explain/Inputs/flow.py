"""Prints what surrounds each collective of an --explain=json file: makers of partial results, ops on the way, readers."""
import json
import sys


def op(entry):
    line = "" if entry["line"] is None else ":" + entry["line"].rsplit(":", 1)[1]
    return entry["spelling"] + line


for use in json.load(open(sys.argv[1], encoding="utf-8"))["collectives"]:
    made = ", ".join(f"{op(m)} over {m['axes']} ({m['bytes_there']})" for m in use["made_over"])
    along = ", ".join(op(o) for o in use["moved_along"])
    read = ", ".join(op(o) for o in use["read_by"])
    print(f"{use['kind']} {use['bytes']}: made by [{made}] along [{along}] read by [{read}]")
