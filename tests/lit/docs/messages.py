#!/usr/bin/env python3
"""Every rule of the language is broken in a test: each message that lexer, parser and checker can give is seen in one.

Reads the formats of the messages from the sources and looks for a text that fits among the kept diagnostics, the lit tests and the
unit tests of the front end. Prints those that no test shows, exit code 1 if there are any.
"""
import glob
import os
import re
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
SOURCES = ("frontend/check*.c", "frontend/parser*.c", "frontend/lexer.c")
TESTS = ("tests/data/diagnostics/**/*.expected", "tests/data/parser/**/*", "tests/lit/**/*", "tests/unit/frontend/*.c")
REPORTS = re.compile(r"\b(?:tspec_check_error|tspec_check_warning|tspec_parser_fail)\((?=[^;{]*;)")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"\s*')
HOLE = re.compile(r"%[-#0 +]*\d*(?:\.\*|\.\d+)?(?:ll|l|z|h)?[diouxXeEfgGsc]")


def files(patterns):
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
            if os.path.isfile(path):
                yield path


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def formats(source):
    """Yields (line, format): the first string of each report, neighbours joined."""
    for report in REPORTS.finditer(source):
        end = source.index(";", report.end())
        at = source.find('"', report.end(), end)
        text = ""
        while at >= 0 and (literal := LITERAL.match(source, at)):
            text += literal.group(1)
            at = literal.end()
        if HOLE.sub("", text).strip():
            yield source.count("\n", 0, report.start()) + 1, text.replace('\\"', '"').replace("%%", "%")


def main():
    seen = re.sub(r'"\s*\n\s*"', "", "\n".join(read(path) for path in files(TESTS))).replace('\\"', '"')
    missing = 0
    for path in files(SOURCES):
        for line, text in formats(read(path)):
            if not re.search(".*?".join(re.escape(part) for part in HOLE.split(text)), seen):
                print(f"{os.path.relpath(path, ROOT)}:{line}: no test shows: {text}")
                missing += 1
    return missing > 0


sys.exit(main())
