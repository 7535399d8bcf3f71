# Reads --explain=json by the schema of docs/explain.md and prints it in short.
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)


def said(where):
    return f"rule '{where['rule']}'" if where["said_by"] == "rule" else "annotation"


def step(at):
    if at["by"] != "op":
        return f"{at['value']}/{at['dim']} {at['by']}"
    return f"{at['value']}/{at['dim']} op {at['op']} {at['factor']} {at['factor_kind']}"


print("program", report["program"], "mesh", ",".join(f"{k}={v}" for k, v in report["mesh"].items()))
for value in report["values"]:
    shape = ",".join(map(str, value["shape"]))
    print("value", value["entry"], value["kind"], value["path"], f"{value['dtype']}[{shape}]", value["sharding"], value["path"])
    for axis in value["axes"]:
        reasons = "; ".join(
            f"{len(reason['seeds'])} seed " + ", ".join(f"{s['value']}/{s['dim']} {said(s)}" for s in reason["seeds"])
            for reason in axis["reasons"]
        )
        print(f"  dim {axis['dim']} {axis['axis']}: {reasons}")
        for reason in axis["reasons"]:
            print("    " + " < ".join(map(step, reason["chain"])))
    for closed in value["closed"]:
        print("  closed", closed["dim"], said(closed))
    for refusal in value["refused"]:
        print(f"  dim {refusal['dim']} not {refusal['axis']} of {refusal['from']['value']}: {refusal['reason']}")
for use in report["collectives"]:
    print("collective", use["entry"], use["kind"], use["bytes"], "bytes for", f"{use['for']}:", " > ".join(use["shardings"]))
    for candidate in use["candidates"]:
        print(f"  {candidate['what']} {candidate['bytes']}:", " ".join(candidate["operands"]), ">", " ".join(candidate["results"]))
