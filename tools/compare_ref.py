#!/usr/bin/env python3
"""Compares each op of the reference evaluator once with a reference interpreter on JAX. Run by hand, not in CI.

  compare_ref.py --ref DIR --eval build/tests/unit/eval_tspec [NAME]...

DIR holds run.py and golden.py of the reference interpreter; this Python must have JAX. Writes one-op programs, gives both
sides the same tensors (golden files' formula), and prints every case that differs and how many agree.
"""
import argparse, os, re, subprocess, sys, tempfile

FLOATS = ("f64", "f32", "bf16", "f16")
TOLERANCE = {"f64": 2e-15, "f32": 1e-6, "bf16": 2.0**-7, "f16": 2.0**-10}


def unary_cases():
    for op in "exp expm1 tanh sigmoid sin cos erf abs sign floor ceil round relu isfinite".split():
        result = "bool" if op == "isfinite" else None
        for dtype in FLOATS:
            yield f"{op}_{dtype}", {"x": (f"{dtype}[4, 9]", "0~3")}, f"{op}(x)", f"{result or dtype}[4, 9]"
    for op in "log log1p sqrt rsqrt".split():
        for dtype in FLOATS:
            yield f"{op}_{dtype}", {"x": (f"{dtype}[4, 9]", "4~3.9")}, f"{op}(x)", f"{dtype}[4, 9]"
    for dtype in ("i64", "i32", "i16", "i8"):
        for op in "abs sign relu".split():
            yield f"{op}_{dtype}", {"x": (f"{dtype}[7]", "%9")}, f"{op}(x - {dtype}(4))", f"{dtype}[7]"
        yield f"neg_{dtype}", {"x": (f"{dtype}[7]", "%9")}, "-x", f"{dtype}[7]"
    yield "not", {"x": ("bool[7]", "%2")}, "!x", "bool[7]"


def binary_cases():
    two = lambda dtype, spread: {"x": (f"{dtype}[5, 8]", spread), "y": (f"{dtype}[5, 8]", spread)}
    for dtype in FLOATS:
        for name, op in (("add", "x + y"), ("sub", "x - y"), ("mul", "x * y"), ("div", "x / y"), ("rem", "x % y"),
                         ("maximum", "maximum(x, y)"), ("minimum", "minimum(x, y)"), ("floor_div", "floor_div(x, y)")):
            yield f"{name}_{dtype}", two(dtype, "0~5"), op, f"{dtype}[5, 8]"
        yield f"pow_{dtype}", two(dtype, "2~1.5"), "x ^ y", f"{dtype}[5, 8]"
    for dtype in ("i64", "i32", "i16", "i8", "u8"):
        for name, op in (("add", "x + y"), ("sub", "x - y"), ("mul", "x * y * x"), ("maximum", "maximum(x, y)"),
                         ("minimum", "minimum(x, y)")):
            yield f"{name}_{dtype}", two(dtype, "%100"), op, f"{dtype}[5, 8]"
        yield f"rem_{dtype}", two(dtype, "%20"), f"(x - {dtype}(10)) % (y + {dtype}(1))", f"{dtype}[5, 8]"
        yield f"floor_div_{dtype}", two(dtype, "%20"), f"floor_div(x - {dtype}(10), y + {dtype}(1))", f"{dtype}[5, 8]"
        yield f"pow_{dtype}", two(dtype, "%5"), "x ^ y", f"{dtype}[5, 8]"
    for dtype in ("f32", "i32", "u8"):
        for name, op in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
            spread = "%4" if dtype != "f32" else "0~1"
            yield f"{name}_{dtype}", two(dtype, spread), f"x {op} y", "bool[5, 8]"
    yield "and", two("bool", "%2"), "x && y", "bool[5, 8]"
    yield "or", two("bool", "%2"), "x || y", "bool[5, 8]"
    yield "select", {"c": ("bool[5, 8]", "%2"), **two("f32", "0~1")}, "select(c, x, y)", "f32[5, 8]"


def convert_cases():
    for source in ("f64", "f32", "bf16", "f16", "i64", "i32", "i16", "i8", "u8", "bool"):
        spread = "0~300" if source in FLOATS else "%2" if source == "bool" else "%120"
        for target in ("f64", "f32", "bf16", "f16", "i64", "i32", "i16", "bool"):
            yield f"convert_{source}_{target}", {"x": (f"{source}[40]", spread)}, f"{target}(x)", f"{target}[40]"


def shape_cases():
    x = {"x": ("f32[2, 3, 4]", "0~1")}
    yield "transpose", x, "transpose(x, [2, 0, 1])", "f32[4, 2, 3]"
    yield "transpose_reversed", x, "transpose(x)", "f32[4, 3, 2]"
    yield "reshape", x, "reshape(x, [6, 4])", "f32[6, 4]"
    yield "broadcast", {"x": ("f32[3, 1]", "0~1")}, "broadcast_to(x, [2, 3, 4])", "f32[2, 3, 4]"
    yield "concat", {"x": ("f32[2, 3]", "0~1"), "y": ("f32[2, 2]", "0~1")}, "concat([x, y, x], 1)", "f32[2, 8]"
    yield "slice", x, "x[0:2, 1:3, ::3]", "f32[2, 2, 2]"
    yield "pad", {"x": ("f32[2, 3]", "0~1")}, "pad(x, [[1, 0], [2, 3]], 7)", "f32[3, 8]"
    yield "iota", {}, "iota([3, 4], 1)", "i32[3, 4]"
    yield "same_sharding", {"x": ("f32[2, 3]", "0~1"), "y": ("f32[4, 5]", "0~2")}, "alike(x, y)", "f32[4, 5]"
    yield "barrier", x, "barrier(x)", "f32[2, 3, 4]"
    yield "expand", x, "expand(x, [1])", "f32[2, 1, 3, 4]"


def reduce_cases():
    for dtype in FLOATS:
        for op in "sum mean max min prod".split():
            yield f"{op}_{dtype}", {"x": (f"{dtype}[5, 6, 7]", "0~2")}, f"{op}(x, [0, 2])", f"{dtype}[6]"
        for op in "argmax argmin".split():
            yield f"{op}_{dtype}", {"x": (f"{dtype}[5, 6]", "0~2")}, f"{op}(x, 1)", "i32[5]"
    for dtype in ("i64", "i32", "i16", "i8", "u8"):
        for op in "sum prod max min".split():
            yield f"{op}_{dtype}", {"x": (f"{dtype}[5, 6]", "%10")}, f"{op}(x, 0)", f"{dtype}[6]"
        yield f"argmax_{dtype}", {"x": (f"{dtype}[5, 6]", "%3")}, "argmax(x, 1)", "i32[5]"
    yield "sum_bool", {"x": ("bool[5, 6]", "%2")}, "sum(x, 0)", "i32[6]"
    for op in ("all", "any"):
        yield op, {"x": ("bool[9, 2]", "%2")}, f"{op}(x, 1)", "bool[9]"


def dot_cases():
    for dtype in FLOATS + ("i32", "i64", "i8"):
        spread = "0~1" if dtype in FLOATS else "%10"
        yield (f"matmul_{dtype}", {"x": (f"{dtype}[5, 7]", spread), "y": (f"{dtype}[7, 3]", spread)}, "x @ y",
               f"{dtype}[5, 3]")
    yield ("matmul_batch", {"x": ("f32[2, 5, 7]", "0~1"), "y": ("f32[2, 7, 3]", "0~1")}, "x @ y", "f32[2, 5, 3]")
    yield ("einsum", {"x": ("f32[2, 3, 4]", "0~1"), "y": ("f32[4, 5, 2]", "0~1")}, 'einsum("abc,cda->bda", x, y)',
           "f32[3, 5, 2]")
    yield ("einsum_two", {"x": ("f32[3, 4]", "0~1"), "y": ("f32[4, 3]", "0~1")}, 'einsum("ab,ba->", x, y)', "f32")
    yield ("einsum_outer", {"x": ("f32[3]", "0~1"), "y": ("f32[4]", "0~1")}, 'einsum("a,b->ba", x, y)', "f32[4, 3]")


def all_cases():
    for maker in (unary_cases, binary_cases, convert_cases, shape_cases, reduce_cases, dot_cases):
        yield from maker()


def shape_of(text):
    return [int(n) for n in re.findall(r"\d+", text.partition("[")[2])]


def dtype_of(text):
    return text.partition("[")[0]


def write_program(path, inputs, expression, result):
    params = ", ".join(f"{name}: {kind}" for name, (kind, _) in inputs.items())
    with open(path, "w") as f:
        f.write("fn alike(p, q) {\n  let (_, v) = same_sharding(p, q)\n  return v\n}\n")
        f.write(f"entry fn main({params}) -> (r: {result}) {{ return {expression} }}\n")


def ours(evaluator, path, inputs):
    spreads = [f"{name}={spread}" for name, (_, spread) in inputs.items()]
    done = subprocess.run([evaluator, path, "main", *spreads], capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()
    numbers = done.stdout.splitlines()[1].split()
    return [float.fromhex(n) if "0x" in n or "inf" in n or "nan" in n else int(n) for n in numbers], None


def theirs(run, golden, jnp, path, inputs):
    r = run.Run([run.STD, path], {}, {})
    args = []
    for name, (kind, spread) in inputs.items():
        record = dict(path=f"in/{name}", shape=shape_of(kind), dtype=dtype_of(kind), scale=1.0, offset=0.0, mod=None)
        if spread.startswith("%"):
            record["mod"] = int(spread[1:])
        else:
            offset, _, scale = spread.partition("~")
            record.update(offset=float(offset), scale=float(scale))
        args.append(jnp.asarray(golden.tensor(record)).astype(run.DT[record["dtype"]]))
    result = r.call(r.entries["main"], args, {})
    result = result[0] if isinstance(result, (list, tuple)) else result
    return [v if isinstance(v, int) else float(v) for v in jnp.ravel(jnp.asarray(result)).tolist()]


def worst(mine, reference, dtype):
    """The first element that differs too much, or None."""
    top = max((abs(v) for v in reference if v == v and abs(v) != float("inf")), default=0)
    for i, (a, b) in enumerate(zip(mine, reference)):
        if a == b or (a != a and b != b):
            continue
        if dtype not in FLOATS or not abs(a - b) <= TOLERANCE[dtype] * max(abs(b), top / 8):
            return i
    return None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ref", required=True)
    parser.add_argument("--eval", required=True, dest="evaluator")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    sys.path.insert(0, os.path.abspath(options.ref))
    import golden
    import jax.numpy as jnp
    import run
    agreed = differed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "op.tspec")
        for name, inputs, expression, result in all_cases():
            if options.names and name not in options.names:
                continue
            write_program(path, inputs, expression, result)
            mine, error = ours(options.evaluator, path, inputs)
            if mine is None:
                print(f"{name}: {expression}: {error}")
                differed += 1
                continue
            try:
                reference = theirs(run, golden, jnp, path, inputs)
            except Exception as e:
                print(f"{name}: {expression}: reference: {e}")
                differed += 1
                continue
            at = worst(mine, reference, dtype_of(result)) if len(mine) == len(reference) else 0
            if at is None:
                agreed += 1
            else:
                differed += 1
                print(f"{name}: {expression}: element {at} is {mine[at]!r}, reference {reference[at]!r}")
    print(f"{agreed} agree, {differed} differ")
    return differed != 0


if __name__ == "__main__":
    sys.exit(main())
