#!/usr/bin/env python3
"""Compares random programs, evaluated, with a reference interpreter on JAX. Run by hand, not in CI.

  mkdir out && build/tests/property/property --seed 1 --count 2000 --ref out
  property_ref.py --ref DIR out

DIR holds run.py of the reference interpreter; this Python must have JAX. `out` has programs and numbers as
tests/property/ref.h says. Prints every result that differs and how many programs agree.
"""
import argparse
import os
import sys

# Little optimisation, as each program runs once; no excess precision, so that each op rounds; no algebraic rewrites: they
# multiply constants first, and take x * x for its own absolute value where integers have wrapped.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
                      "--xla_allow_excess_precision=false --xla_disable_hlo_passes=algsimp")
import numpy as np


def read_tensor(line):
    """A line of a file: kind, names, dtype, tolerance, numbers."""
    head, _, numbers = line.partition(" :")
    words = head.split()
    names = words[1:2] if words[0] == "param" else words[1:3]
    dtype, dims, *allowed = words[1 + len(names):]
    shape = [] if dims == "-" else [int(d) for d in dims.split(",")]
    whole = dtype[0] in "iub" and dtype != "bf16"
    values = np.array([int(n) for n in numbers.split()] if whole else [float(n) for n in numbers.split()],
                      np.int64 if whole else np.float64).reshape(shape)
    return words[0], names, dtype, float(allowed[0]) if allowed else 0, values


def difference(want, got, dtype, allowed):
    """What differs, or None."""
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    allowed = np.full(want.shape, allowed)
    wrong = ~((got == want) | (np.isnan(got) & np.isnan(want)) | (abs(got - want) <= allowed))
    if not wrong.any():
        return None
    at = tuple(int(i[0]) for i in np.nonzero(wrong)) if want.ndim else ()
    return f"{int(wrong.sum())} of {want.size} {dtype}, at {at} {want[at]!r}, JAX {got[at]!r}; {allowed[at]:.3g} is allowed"


def check(run, folder, seed):
    """The differences of one program's results."""
    program = run.Run([run.STD, f"{folder}/{seed}.tspec"], {})
    inputs, wanted = {}, {}
    make = lambda values, dtype: run.jnp.asarray(values).astype(run.DT[dtype])
    for kind, names, dtype, allowed, values in map(read_tensor, open(f"{folder}/{seed}.txt")):
        if kind == "param":
            program.vals[names[0]] = make(values, dtype)
        elif kind == "in":
            inputs[tuple(names)] = make(values, dtype)
        else:
            wanted.setdefault(names[0], []).append((names[1], dtype, allowed, values))
    params = dict(program.vals)
    for entry, results in wanted.items():
        args = [inputs[entry, name] for name, _, _ in program.inputs(entry)]
        got = program.compiled(entry)(params, 0, args)[0]
        for value, (name, dtype, allowed, want) in zip(got, results, strict=True):
            if value.dtype != run.DT[dtype]:
                yield f"{entry}.{name}: {dtype}, JAX {value.dtype}"
            wrong = difference(want, np.asarray(value).astype(want.dtype), dtype, allowed)
            if wrong:
                yield f"{entry}.{name}: {wrong}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ref", required=True)
    parser.add_argument("--only", type=int, nargs="*", help="these seeds")
    parser.add_argument("folder")
    options = parser.parse_args()
    sys.path.insert(0, options.ref)
    import run
    seeds = sorted(int(name[:-6]) for name in os.listdir(options.folder) if name.endswith(".tspec"))
    seeds = [seed for seed in seeds if not options.only or seed in options.only]
    nagreed = 0
    for count, seed in enumerate(seeds):
        try:
            wrong = list(check(run, options.folder, seed))
        except Exception as error:  # what it does not know, or does not accept
            wrong = [f"{type(error).__name__}: {error}"]
        nagreed += not wrong
        for line in wrong:
            print(f"{seed} {line}", flush=True)
        if count % 100 == 99:
            run.jax.clear_caches()
    print(f"{nagreed} of {len(seeds)} programs agree")
    sys.exit(nagreed < len(seeds))


if __name__ == "__main__":
    main()
