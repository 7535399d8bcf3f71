"""Installs the tree, builds examples/embed-model against the installation alone, and compares what it prints with the
executables of the same programs.

    embed_test.py BUILD_DIR SOURCE_DIR WORK_DIR CMAKE MPIRUN

Exit code 0 if all is well; each failure is a line.
"""
import os
import shutil
import struct
import subprocess
import sys

build, source, work, cmake, mpirun = sys.argv[1:]
ROWS, COLUMNS, CALLS = 5, 7, 3
example = os.path.join(source, "examples", "embed-model")
prefix = os.path.join(work, "prefix")
failures = 0


def fail(what):
    global failures
    failures += 1
    print("FAILED:", what, flush=True)


def run(*command, ok=True):
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=work)
    if (result.returncode == 0) != ok:
        print(result.stdout, result.stderr, sep="\n")
        raise SystemExit("FAILED: exit code %d of %s" % (result.returncode, " ".join(command)))
    return result


def write_npy(path, numbers, shape):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }\n" % "".join("%d, " % n for n in shape)
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<%df" % len(numbers), *numbers))


def read_npy(path):
    with open(path, "rb") as file:
        content = file.read()
    data = content[10 + struct.unpack("<H", content[8:10])[0]:]
    return list(struct.unpack("<%df" % (len(data) // 4), data))


def path(name):
    return os.path.join(work, name)


def build_all():
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    run(cmake, "--install", build, "--prefix", prefix)
    run(cmake, "-G", "Ninja", "-S", example, "-B", path("build"), "-DCMAKE_PREFIX_PATH=" + prefix,
        "-DCMAKE_C_FLAGS=-Werror", "-DCMAKE_CXX_FLAGS=-Werror")
    run(cmake, "--build", path("build"))
    for name in ("mlp", "stats"):
        run(prefix + "/bin/tspecc", os.path.join(example, name + ".tspec"), "-o", path(name))


def expected(*weights):
    """What the executables say: y after three calls, its rows' means, its largest element."""
    numbers = [i * 0.0625 - 1 for i in range(ROWS * COLUMNS)]
    for _ in range(CALLS):
        write_npy(path("x.npy"), numbers, (ROWS, COLUMNS))
        run(path("mlp"), "forward", *weights, "--in", "x=x.npy", "--out", "y=y.npy")
        numbers = read_npy(path("y.npy"))
    run(path("stats"), "summary", "--in", "y=y.npy", "--out", "mean=mean.npy", "--out", "largest=largest.npy")
    want = {"y %d %d" % (i // COLUMNS, i % COLUMNS): number for i, number in enumerate(numbers)}
    want.update({"mean %d" % i: number for i, number in enumerate(read_npy(path("mean.npy")))})
    want["largest"] = read_npy(path("largest.npy"))[0]
    return want


def got(nranks, *arguments):
    lines = run(mpirun, "-n", str(nranks), path("build/embed_model"), *arguments).stdout.splitlines()
    pairs = [line.rsplit(" ", 1) for line in lines]
    if len({key for key, _ in pairs}) != len(pairs):
        fail("a line comes twice: %s" % lines)
    return {key: float(value) for key, value in pairs}


def compare(what, want, have, others):
    want = dict(want, **({"others": others} if others is not None else {}))
    if set(want) != set(have):
        fail("%s: wanted %s, got %s" % (what, sorted(want), sorted(have)))
    for key in sorted(set(want) & set(have)):
        if struct.pack("<f", want[key]) != struct.pack("<f", have[key]):
            fail("%s: %s: wanted %.9g, got %.9g" % (what, key, want[key], have[key]))


def check_header():
    """What the header says, against examples/embed-model/mlp.tspec: mesh 2x2, x f32[5, 7] in rows of 3 and 2."""
    with open(path("build/mlp.tspec/mlp.h")) as file:
        text = file.read()
    for line in ("TSPEC_mlp_RANKS = 4,", "extern const tspec_compiled_t tspec_program_mlp;",
                 "TSPEC_mlp_PARAM_w1 = 0, ///< 'w1': f32[7, 9] @ [-, model]", "TSPEC_mlp_NPARAMS = 2,",
                 "#define TSPEC_mlp_PARAM_w2_BLOCK_BYTES 140", '#define TSPEC_mlp_forward "forward"',
                 "TSPEC_mlp_forward_IN_x = 0, ///< 'x': f32[5, 7] @ [data, -]",
                 "#define TSPEC_mlp_forward_IN_x_DTYPE TSPEC_RT_F32", "#define TSPEC_mlp_forward_IN_x_NDIMS 2",
                 "#define TSPEC_mlp_forward_IN_x_SHAPE {5, 7}", "#define TSPEC_mlp_forward_IN_x_BLOCK_BYTES 84"):
        if line not in text:
            fail("mlp.h lacks '%s'" % line)


def check_failures():
    """Failures come back to the program: it says them in its own words and ends itself."""
    result = run(mpirun, "-n", "3", path("build/embed_model"), ok=False)
    if "embed_model: the mesh needs 4 ranks, the communicator has 3" not in result.stderr:
        fail("too few ranks: %s" % result.stderr)
    result = run(mpirun, "-n", "4", path("build/embed_model"), "none.safetensors", ok=False)
    if "embed_model: cannot open 'none.safetensors'" not in result.stderr:
        fail("no weights: %s" % result.stderr)


def check_foreign_header():
    """A header that is not the compiler's own is not overwritten."""
    with open(path("mine.h"), "w") as file:
        file.write("int mine;\n")
    result = run(prefix + "/bin/tspecc", os.path.join(example, "mlp.tspec"), "--emit=obj", "-o", "mine.o", ok=False)
    with open(path("mine.h")) as file:
        if file.read() != "int mine;\n" or "would replace a file" not in result.stderr:
            fail("a header of others: %s" % result.stderr)


build_all()
check_header()
compare("five ranks", expected(), got(5), 4)
compare("four ranks", expected(), got(4), None)
run(path("mlp"), "forward", "--seed", "7", "--in", "x=0", "--save", "weights.safetensors")
compare("weights of a file", expected("--load", "weights.safetensors"), got(5, "weights.safetensors"), 4)
check_failures()
check_foreign_header()
sys.exit(1 if failures else 0)
