"""Prints how many reasons a value's first axis has in an --explain=json file, and who said them."""
import json
import sys

explained = json.load(open(sys.argv[1], encoding="utf-8"))
axis = next(v for v in explained["values"] if v["path"] == sys.argv[2])["axes"][0]
reasons = explained["reasons"][axis["all_reasons"]]
said = " ".join(sorted(explained["seeds"][reason[0]]["said_by"] for reason in reasons))
print(f"{len(explained['seeds'])} seeds, {len(axis['reasons'])} chains, {len(reasons)} reasons: {said}")
