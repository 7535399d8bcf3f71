#!/usr/bin/env python3
"""Keeps the dumps in a document true.

  tour.py TSPECC DOC.md [--write]

A line `<!-- tour: ARGS -->` before a fenced block says which tspecc command makes the block: `tspecc ARGS` is run in the
repository's root and its output, without locations and attributes that only serve round trips, must be the block. `--write` puts
it there. `| body` after the arguments keeps only the function, `| first N` the first N lines.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
LOCATION = re.compile(r" loc\((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*\)")
NOISE = [re.compile(p) for p in (r", spelling = \"[^\"]*\"", r"spelling = \"[^\"]*\", ", r"(, )?places = \[[^]]*\]", r", tspec\.place = #loc\d*",
                                 r" \{spelling = \"[^\"]*\"\}", r"lhs_batch = array<i64>, ", r"rhs_batch = array<i64>, ")]


def shorten(text):
    lines = []
    for line in text.splitlines():
        if line.startswith("#loc"):
            continue
        line = LOCATION.sub("", line)
        for noise in NOISE:
            line = noise.sub("", line)
        lines.append(line.rstrip())
    return lines


def run(tspecc, command):
    args, _, how = (part.strip() for part in command.partition("|"))
    done = subprocess.run([tspecc] + args.split(), cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"tspecc {args}: exit code {done.returncode}\n{done.stderr}")
    lines = shorten(done.stdout)
    if how == "body":
        start = next(i for i, line in enumerate(lines) if "func.func" in line)
        lines = [line[2:] for line in lines[start:lines.index("  }", start) + 1]]
    elif how.startswith("first"):
        lines = lines[:int(how.split()[1])]
    return lines


def main(tspecc, path, write):
    source = open(path).read().split("\n")
    out, i, wrong, blocks = [], 0, 0, 0
    while i < len(source):
        out.append(source[i])
        match = re.fullmatch(r"<!-- tour: (.*) -->", source[i])
        i += 1
        if not match:
            continue
        end = source.index("```", i + 1)
        got, want = source[i + 1:end], run(os.path.abspath(tspecc), match.group(1))
        blocks += 1
        if got != want:
            wrong += 1
            print(f"{path}:{i + 1}: tspecc {match.group(1)} now prints\n" + "\n".join(want))
        out += [source[i]] + want + ["```"]
        i = end + 1
    if write:
        open(path, "w").write("\n".join(out))
    elif wrong or not blocks:
        sys.exit(f"{wrong} of {blocks} dumps in {path} are not what tspecc prints; tour.py --write brings them up to date")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], "--write" in sys.argv)
