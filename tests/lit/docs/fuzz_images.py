#!/usr/bin/env python3
"""Most kept fuzz inputs of the target `image` are of the version that the runtime reads: others are refused at their first bytes and
test nothing. After a new version: tools/image_seeds.py, then fuzz (docs/testing.md)."""
import os
import re
import struct
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
FOLDER = os.path.join(ROOT, "tests", "fuzz", "corpus", "image")

with open(os.path.join(ROOT, "runtime", "image.h"), encoding="utf-8") as header:
    text = header.read()
magic = re.search(r'TSPEC_IMAGE_MAGIC "(\w+)"', text).group(1).encode()
version = int(re.search(r"TSPEC_IMAGE_VERSION (\d+)u", text).group(1))

inputs = sorted(os.listdir(FOLDER))
fitting = 0
for name in inputs:
    with open(os.path.join(FOLDER, name), "rb") as file:
        fitting += file.read(12) == magic + struct.pack("<I", version)
print(f"{fitting} of {len(inputs)} kept images are of version {version}")
sys.exit(fitting * 2 < len(inputs))
