#!/usr/bin/env python3
"""Program images of the examples as files, seeds for the fuzz target `image`.

  image_seeds.py TSPECC FOLDER

Compiles each program for a few meshes with --emit=obj and cuts the image out of the object.
"""
import os
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
PROGRAMS = {
    "examples/programs/dotreludot.tspec": ["data=1,model=1", "data=3,model=2"],
    "examples/digits/digits.tspec": ["data=1,model=1", "data=2,model=4"],
    "tests/e2e/programs/block.tspec": ["data=1,model=1", "data=2,model=3"],
    "tests/e2e/programs/mlp3.tspec": ["data=1,model=1", "data=1,model=5"],
    "tests/e2e/programs/initial.tspec": ["data=1,model=1", "data=2,model=2"],
    "tests/e2e/programs/calls.tspec": ["data=1,model=1", "data=3,model=2"],
    "examples/comm/argmax_split.tspec": [None],
    "examples/comm/concat_on_split_dim.tspec": [None],
    "examples/comm/pad_by_one.tspec": [None],
    "examples/comm/row_differences.tspec": [None],
    "examples/comm/swap_two_axes.tspec": [None],
}


def cut_image(path):
    """The bytes of the symbol `image`."""
    symbols = subprocess.run(["readelf", "-sW", path], check=True, capture_output=True, text=True).stdout
    _, value, size, _, _, _, section, _ = next(f for f in map(str.split, symbols.splitlines()) if f and f[-1] == "image")
    sections = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True).stdout
    row = next(line for line in sections.splitlines() if line.replace(" ", "").startswith(f"[{section}]"))
    offset = int(row.split("]", 1)[1].split()[3], 16)
    with open(path, "rb") as file:
        file.seek(offset + int(value, 16))
        return file.read(int(size))


def main():
    tspecc, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for program, meshes in PROGRAMS.items():
        for mesh in meshes:
            name = os.path.basename(program).split(".")[0] + "_" + (mesh or "").replace("=", "").replace(",", "_")
            path = os.path.join(folder, name.rstrip("_"))
            flags = ["--mesh", mesh] if mesh else []
            done = subprocess.run([tspecc, os.path.join(ROOT, program), "--emit=obj", "-o", path + ".o", *flags],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{program}: {done.stderr}")
            with open(path, "wb") as file:
                file.write(cut_image(path + ".o"))
            for ending in (".o", ".h"):
                os.remove(path + ending)


main()
