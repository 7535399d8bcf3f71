"""Runs the hand-built program (program.c) on its meshes and looks at everything a user can see.

    program_test.py WORK_DIR PROGRAM_1x1 PROGRAM_2x2 ...

Files are written and read here, with the standard library alone, so that the runtime is not checked
against itself. Exit code 0 if all is well; each failure is a line.
"""
import json
import os
import struct
import subprocess
import sys

work = sys.argv[1]
programs = sys.argv[2:]
failures = 0
checks = 0


def check(ok, what):
    global checks, failures
    checks += 1
    if not ok:
        failures += 1
        print("FAILED:", what, flush=True)


def path(name):
    return os.path.join(work, name)


def run(program, *arguments, timeout=60, start=(), **environment):
    result = subprocess.run([*start, program, *arguments], capture_output=True, text=True,
                            timeout=timeout, stdin=subprocess.DEVNULL,
                            env={**os.environ, **environment})
    return result.returncode, result.stdout, result.stderr


def npy(name, descr, shape, data, fortran=False, version=1):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (
        descr, fortran, "".join("%d, " % size for size in shape))
    length = struct.pack("<H" if version == 1 else "<I", len(header) + 1)
    with open(path(name), "wb") as file:
        file.write(b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + b"\n" + data)
    return path(name)


def read_npy(name):
    with open(path(name), "rb") as file:
        content = file.read()
    length = struct.unpack("<H", content[8:10])[0]
    header = eval(content[10:10 + length])
    return header["descr"], header["shape"], content[10 + length:]


def safetensors(name, tensors):
    header, data = {}, b""
    for key, (dtype, shape, raw) in tensors.items():
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path(name), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    return path(name)


def read_safetensors(name):
    with open(path(name), "rb") as file:
        content = file.read()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    header.pop("__metadata__", None)
    return {key: (entry["dtype"], entry["shape"],
                  content[8 + length + entry["data_offsets"][0]:8 + length + entry["data_offsets"][1]])
            for key, entry in header.items()}


def floats(values):
    return struct.pack("<%df" % len(values), *values)


# Small integers: every sum is exact, in any order.
X = [(i * 7) % 11 - 5 for i in range(35)]
W = [(i * 5) % 9 - 4 for i in range(30)]


def expected(scale, c):
    return [sum(X[i * 5 + k] * W[k * 6 + j] * scale for k in range(5)) + c
            for i in range(7) for j in range(6)]


x_npy = npy("x.npy", "<f4", (7, 5), floats(X))
transposed = [X[i * 5 + k] for k in range(5) for i in range(7)]
x_fortran = npy("xf.npy", "<f4", (7, 5), floats(transposed), fortran=True, version=2)
params = safetensors("params.safetensors", {"net/w": ("F32", [5, 6], floats(W)),
                                            "count": ("I64", [], struct.pack("<q", 41)),
                                            "unused": ("F32", [1], floats([1]))})


def computes(program, tag):
    counts, saved, profile = (path("%s_%s" % (tag, kind)) for kind in
                              ("counts.json", "saved.safetensors", "profile.json"))
    for source in (x_npy, x_fortran):
        out_file = path("y_%s.npy" % tag)
        code, out, err = run(program, "step", "--in", "x=" + source, "--in", "c=2", "--load", params,
                             "--steps", "2", "--out", "y=" + out_file, "--counts", counts,
                             "--save", saved, "--profile", profile)
        check(code == 0, "%s: exit code %d: %s" % (tag, code, err))
        check(err == "", "%s: says on stderr: %s" % (tag, err))
        lines = ["total %.9g count %d" % (sum(expected(1, 2)), 41),
                 "total %.9g count %d" % (sum(expected(0.5, 2)), 42)]
        check(out.splitlines() == lines, "%s: prints %r, wanted %r" % (tag, out, lines))
        descr, shape, data = read_npy("y_%s.npy" % tag)
        check((descr, shape) == ("<f4", (7, 6)), "%s: y is %s %s" % (tag, descr, shape))
        check(data == floats(expected(0.5, 2)), "%s: y differs" % tag)
        tensors = read_safetensors(os.path.basename(saved))
        check(tensors == {"net/w": ("F32", [5, 6], floats([w * 0.25 for w in W])),
                          "count": ("I64", [], struct.pack("<q", 43))}, "%s: saved differs" % tag)
    check(not [name for name in os.listdir(work) if ".tmp-" in name], "%s: leaves a temporary" % tag)
    data, model = (int(part) for part in tag.split("x"))
    ranks = data * model
    with open(counts) as file:
        counted = json.load(file)
    blocks = [min(6, (i + 1) * -(-6 // model)) - min(6, i * -(-6 // model)) for i in range(model)]
    rows = -(-7 // data)
    want = [-(-2 * (ranks - 1) * 4 // ranks), rows * (sum(blocks) - min(blocks)) * 4 if model > 1 else 0]
    check([row["bytes"] for row in counted["collectives"]] == want,
          "%s: counted %r, wanted %r" % (tag, counted["collectives"], want))
    check(counted["bytes"] == sum(want) and counted["runs"] == 2, "%s: totals of the counts" % tag)
    with open(profile) as file:
        events = json.load(file)
    steps = [event for event in events if event["ph"] == "X"]
    check(len(steps) == ranks * 2 * 7, "%s: %d events in the profile" % (tag, len(steps)))
    check(sorted({event["pid"] for event in events}) == list(range(ranks)), "%s: ranks in it" % tag)
    check({"all_reduce", "all_gather"} <= {event["args"].get("kind") for event in steps} and
          "step.tspec:10" in {event["args"]["where"] for event in steps}, "%s: its collectives" % tag)


def same_start(program, tag, first):
    """Initial parameters and results that add nothing up are the same bits on every mesh."""
    saved = path("start_%s.safetensors" % tag)
    out = path("start_%s.npy" % tag)
    code, _, err = run(program, "step", "--in", "x=" + x_npy, "--in", "c=0.5", "--seed", "7",
                       "--save", saved, "--out", "y=" + out, "--deterministic", "--threads", "2")
    check(code == 0, "%s: exit code %d: %s" % (tag, code, err))
    with open(saved, "rb") as a, open(out, "rb") as b:
        bits = (a.read(), b.read())
    check(first is None or bits == first, "%s: other bits than on one rank" % tag)
    return bits


def says(program, arguments, code, line, timeout=30, start=(), **environment):
    """Fails with this exit code and one line that ends so."""
    got, _, err = run(program, *arguments, timeout=timeout, start=start, **environment)
    lines = err.splitlines()
    check(got == code, "%r: exit code %d, wanted %d: %s" % (arguments, got, code, err))
    check(len(lines) == 1 and lines[0].endswith(line), "%r: says %r, wanted %r" % (arguments, err, line))


def fails(program, name):
    given = ["--in", "x=" + x_npy, "--in", "c=2"]
    rank = "rank 0/4: "
    says(program, [], 2, name + ": which entry? there is 'step', 'stuck', 'crash'")
    says(program, ["other"], 2, "no entry 'other'; there is 'step', 'stuck', 'crash'")
    says(program, ["step", "--wrong"], 2, "unknown option '--wrong'")
    says(program, ["step", "--in", "c=2"], 1, "input 'x' (f32[7, 5]) of 'step' needs --in x=FILE")
    says(program, ["step", *given, "--in", "z=1"], 2, "'step' has no input 'z'; it has 'x', 'c'")
    says(program, ["step", *given, "--out", "z=a.npy"], 2,
         "'step' has no result 'z'; it has 'total', 'count', 'y'")
    says(program, ["step", *given, "--ranks", "3"], 1,
         "--ranks 3, but the mesh needs 4: compile for another mesh to change it")
    says(program, ["step", "--in", "x=no.npy", "--in", "c=2"], 1,
         rank + "cannot open 'no.npy': No such file or directory")
    says(program, ["step", "--in", "x=2", "--in", "c=" + x_npy], 1,
         rank + "'%s' has f32[7, 5] for 'c', wanted f32" % x_npy)
    doubles = npy("doubles.npy", "<f8", (7, 5), struct.pack("<35d", *X))
    says(program, ["step", "--in", "x=" + doubles, "--in", "c=2"], 1,
         rank + "'%s' has f64[7, 5] for 'x', wanted f32[7, 5]" % doubles)
    big = npy("big.npy", ">f4", (7, 5), floats(X))
    says(program, ["step", "--in", "x=" + big, "--in", "c=2"], 1,
         rank + "'%s' is big-endian ('>f4'), wanted little-endian" % big)
    says(program, ["step", "--in", "x=%s:other" % params, "--in", "c=2"], 1,
         rank + "'%s' has no tensor 'other'" % params)
    says(program, ["step", *given, "--load", x_npy], 1,
         "'%s' is not a .safetensors file: its header would have %d bytes" %
         (x_npy, struct.unpack("<Q", open(x_npy, "rb").read(8))[0]))
    few = safetensors("few.safetensors", {"net/w": ("F32", [5, 6], floats(W))})
    says(program, ["step", *given, "--load", few], 1, rank + "'%s' has no tensor 'count' (i64)" % few)
    wrong = safetensors("wrong.safetensors", {"net/w": ("F32", [6, 5], floats(W))})
    says(program, ["step", *given, "--load", wrong], 1,
         rank + "'%s' has f32[6, 5] for 'net/w', wanted f32[5, 6]" % wrong)
    code, out, err = run(program, "step", *given, "--out", "y=/no/such/folder/y.npy")
    check(code == 1 and err == rank + "cannot write '/no/such/folder/y.npy': No such file or directory\n",
          "--out into no folder: %d %r" % (code, err))
    code, _, err = run(program, "step", *given, PROGRAM_DAMAGED="1")
    check(code == 70 and "program image" in err and err.count("\n") == 1, "a damaged image: %r" % err)
    if lacks("amx_tile", "avx512_fp16"):
        says(program, ["step", *given], 1, "this processor lacks amx-tile, avx512fp16, which the "
             "program was compiled for (--cpu=x86-64-v2); compile it for this one",
             PROGRAM_FEATURES="sse4.2,amx-tile,avx512fp16")
    says(program, ["step", *given], 1, rank + "the ranks do not all run the same compiled program",
         PROGRAM_DIFFERS="1")
    says(program, ["stuck"], 1, "all_reduce for 'sum' at step.tspec:21 has not ended within 1 s; "
         "not there yet: rank 1, 3", TSPEC_TIMEOUT="1")
    says(program, ["crash"], 137, name + ": a rank was ended by signal 9 (Killed)")
    says(program, ["step", *given], 1, "4 ranks are needed, but mpirun cannot be started: "
         "No such file or directory", PATH="/nowhere")
    says(program, ["step", *given], 1, "the mesh (data=2, model=2) needs 4 ranks, started with 3",
         start=("mpirun", "-q", "--oversubscribe", "-n", "3"))


def lacks(*flags):
    with open("/proc/cpuinfo") as file:
        present = file.read().split()
    return all(flag not in present for flag in flags)


def tells(program):
    code, out, _ = run(program, "--info")
    check(code == 0 and "mesh data=2, model=2 (4 ranks)\n" in out and
          "param net/w: f32[5, 6] @ [-, model]\n" in out and "state count: i64 @ []\n" in out and
          "  input x: f32[7, 5] @ [data, -]\n" in out and "  updates net/w\n" in out, "--info: " + out)
    code, out, _ = run(program, "--help")
    check(code == 0 and out.startswith("usage: ") and "entries: step stuck crash\n" in out, "--help")
    code, out, _ = run(program, "--version")
    check(code == 0 and out == "step, compiled by by hand for x86-64-v2\n", "--version: " + out)


first = None
for program in programs:
    tag = program.rsplit("_", 1)[1]
    computes(program, tag)
    first = same_start(program, tag, first)
    if tag == "2x2":
        tells(program)
        fails(program, os.path.basename(program))
print("runtime programs: %d checks on %d meshes, %d failed" % (checks, len(programs), failures))
sys.exit(failures != 0)
