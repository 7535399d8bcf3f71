#!/usr/bin/env python3
"""Derives the constants of runtime/math: minimax polynomials and the pieces of ln 2, 2/pi and so on.

    python3 -m venv /tmp/fit && /tmp/fit/bin/pip install mpmath gmpy2
    /tmp/fit/bin/python tools/fit_math.py > runtime/math/coefficients.h

Polynomials: the Remez exchange on a fixed grid, in 50 digits, with a weight that makes the error that of the function's
result. Coefficients are rounded to the target type one after the other, the lowest power first, and after each the
others are fitted again. The error that remains is printed beside each polynomial, as a power of two.
"""
import sys

from mpmath import mp, mpf, cos, erf, erfc, exp, floor, log, lu_solve, matrix, pi, sin, sqrt, tanh

mp.dps = 50
GRID = 400


def round_to(value, bits):
    """`value` rounded to nearest with `bits` of significand."""
    if value == 0:
        return mpf(0)
    exponent = floor(log(abs(value), 2))
    unit = mpf(2) ** (exponent - bits + 1)
    return mp.nint(value / unit) * unit


def literal(value, bits):
    """A C literal that is exactly `value`, which has at most `bits` of significand."""
    text = float(value).hex()
    assert mpf(float(value)) == value, value
    return text + ('f' if bits == 24 else '')


def alternation(errors):
    """Indices of extrema of alternating sign, one for each run of one sign."""
    picks = []
    for i, e in enumerate(errors):
        if picks and (e > 0) == (errors[picks[-1]] > 0):
            if abs(e) > abs(errors[picks[-1]]):
                picks[-1] = i
        else:
            picks.append(i)
    return picks


def remez(xs, values, weights, powers):
    """Coefficients of x^p for p in `powers` that minimise the largest |weight * (value - polynomial)| on the grid."""
    n = len(powers)
    table = [[w * x ** p for p in powers] for x, w in zip(xs, weights)]
    targets = [w * v for v, w in zip(values, weights)]
    points = [round(j * (len(xs) - 1) / n) for j in range(n + 1)]
    for _ in range(40):
        system = matrix(n + 1, n + 1)
        right = matrix(n + 1, 1)
        for row, i in enumerate(points):
            for column in range(n):
                system[row, column] = table[i][column]
            system[row, n] = (-1) ** row
            right[row] = targets[i]
        solution = lu_solve(system, right)
        coefficients = [solution[j] for j in range(n)]
        level = abs(solution[n])
        errors = [target - sum(c * t for c, t in zip(coefficients, row)) for target, row in zip(targets, table)]
        largest = max(abs(e) for e in errors)
        if largest <= level * mpf('1.01'):
            break
        picks = alternation(errors)
        while len(picks) > n + 1:
            picks.pop(0 if abs(errors[picks[0]]) < abs(errors[picks[-1]]) else -1)
        if len(picks) < n + 1:
            break
        points = picks
    return coefficients, largest


def fit(name, comment, f, weight, lo, hi, degree, bits):
    """Prints the coefficients of f on [lo, hi], the constant first."""
    middle, half = (mpf(hi) + lo) / 2, (mpf(hi) - lo) / 2
    xs = [middle - half * cos(pi * (2 * i + 1) / (2 * GRID)) for i in range(GRID)]
    values = [f(x) for x in xs]
    weights = [weight(x) for x in xs]
    powers = list(range(degree + 1))
    done = []
    for p in powers:
        rest = [v - sum(c * x ** q for q, c in enumerate(done)) for x, v in zip(xs, values)]
        coefficients, _ = remez(xs, rest, weights, powers[p:])
        done.append(round_to(coefficients[0], bits))
    error = max(abs(w * (v - sum(c * x ** q for q, c in enumerate(done)))) for x, v, w in zip(xs, values, weights))
    ctype = 'float' if bits == 24 else 'double'
    print(f'\n// {comment}: 2^{float(log(error, 2)):.1f}')
    print(f'static const {ctype} {name}[] = {{')
    for c in done:
        print(f'    {literal(c, bits)},')
    print('};')
    sys.stdout.flush()


def pieces(name, value, bits, count=2):
    """NAME_0, NAME_1, ..: numbers of `bits` whose sum is `value`, each rounded to nearest."""
    for i in range(count):
        part = round_to(value, bits)
        print(f'#define {name}_{i} {literal(part, bits)}')
        value -= part


HALF_LN2 = log(2) / 2 + mpf(2) ** -20
S_MAX = (sqrt(2) - 1) / (sqrt(2) + 1)          # s = f / (2 + f) for 1 + f in [sqrt(1/2), sqrt(2)]
Z_MAX = S_MAX ** 2 * mpf('1.0001')


def exp_rest(r):                               # (exp(r) - 1 - r) / r^2
    return mpf(1) / 2 + r / 6 + r * r / 24 if abs(r) < mpf(10) ** -15 else (exp(r) - 1 - r) / r ** 2


def log_rest(f):                               # (log(1 + f) - f + f^2 / 2) / f^3
    if abs(f) < mpf(10) ** -10:
        return sum((-1) ** k * f ** k / (k + 3) for k in range(5))
    return (log(1 + f) - f + f * f / 2) / f ** 3


def atanh_rest(z, first):                      # sum over k >= first of 2 z^(k - first) / (2 k + 1)
    return sum(2 * z ** k / (2 * (k + first) + 1) for k in range(40))


def tanh_rest(z):                              # (tanh(x) - x) / x^3 of z = x^2
    if z < mpf(10) ** -12:
        return -mpf(1) / 3 + 2 * z / 15 - 17 * z * z / 315
    x = sqrt(z)
    return (tanh(x) - x) / x ** 3


def erf_rest(z):                               # erf(x) / x - 1 of z = x^2
    if z < mpf(10) ** -30:
        return 2 / sqrt(pi) * (1 - z / 3) - 1
    x = sqrt(z)
    return erf(x) / x - 1


def sin_rest(z):                               # (sin(x) - x) / x^3 of z = x^2
    return sum((-1) ** (k + 1) * z ** k / mp.factorial(2 * k + 3) for k in range(14))


def cos_rest(z):                               # (cos(x) - 1 + x^2 / 2) / x^4 of z = x^2
    return sum((-1) ** k * z ** k / mp.factorial(2 * k + 4) for k in range(14))


def exp_fits():
    fit('exp_f32_poly', 'exp(r) = 1 + r + r^2 p(r), |r| <= ln(2) / 2', exp_rest,
        lambda r: r * r / exp(r), -HALF_LN2, HALF_LN2, 4, 24)
    fit('exp_f64_poly', 'exp(r) = 1 + r + r^2 p(r), |r| <= ln(2) / 2', exp_rest,
        lambda r: r * r / exp(r), -HALF_LN2, HALF_LN2, 10, 53)
    fit('exp2_poly', '2^r = p(r), |r| <= 1/2, for a result in f32', lambda r: mpf(2) ** r,
        lambda r: mpf(2) ** -r, -mpf('0.5'), mpf('0.5'), 7, 53)


def log_fits():
    fit('log_f32_poly', 'log(1 + f) = f - f^2 / 2 + f^3 p(f), 1 + f in [sqrt(1/2), sqrt(2)]', log_rest,
        lambda f: f ** 2 if f == 0 else f ** 3 / log(1 + f), sqrt(mpf('0.5')) - 1, sqrt(2) - 1, 8, 24)
    fit('log_f64_poly', 'log(1 + f) = 2 s + s z p(z), s = f / (2 + f), z = s^2', lambda z: atanh_rest(z, 1),
        lambda z: z / 2, 0, Z_MAX, 6, 53)
    ln2 = log(2)
    fit('log2_poly', 'log2(1 + f) = s p(z) as above, for a result in f32',
        lambda z: atanh_rest(z, 0) / ln2, lambda z: ln2 / 2, 0, Z_MAX, 5, 53)
    fit('log2_tail_poly', 'the terms of log2(1 + f) / s from z^3 on, over z^3', lambda z: atanh_rest(z, 3) / ln2,
        lambda z: z ** 3 / 3, 0, Z_MAX, 6, 53)


def tanh_fits():
    small = mpf('0.5625') ** 2
    fit('tanh_f32_poly', 'tanh(x) = x + x^3 p(x^2), |x| <= 0.5625', tanh_rest,
        lambda z: z, 0, small, 4, 24)
    fit('tanh_f64_poly', 'tanh(x) = x + x^3 p(x^2), |x| <= 0.5625', tanh_rest,
        lambda z: z, 0, small, 10, 53)


def erf_fits():
    fit('erf_f32_poly', 'erf(x) = x + x p(x^2), |x| <= 0.921875', erf_rest, lambda z: mpf(1), 0,
        mpf('0.921875') ** 2, 6, 24)
    fit('erfc_f32_poly', 'log(1 - erf(x)) = p(x), x in [0.921875, 4]; the error is that of erf',
        lambda x: log(erfc(x)), erfc, mpf('0.921875'), 4, 6, 24)
    fit('erf_f64_poly', 'erf(x) = x + x p(x^2), |x| <= 0.921875', erf_rest, lambda z: mpf(1), 0,
        mpf('0.921875') ** 2, 12, 53)
    fit('erfc_f64_poly', '1 - erf(x) = exp(-x^2) p(1 / (1 + x)), x in [0.921875, 6]; the error is that of erf',
        lambda u: erfc(1 / u - 1) * exp((1 / u - 1) ** 2), lambda u: exp(-(1 / u - 1) ** 2),
        1 / mpf(7), 1 / mpf('1.921875'), 13, 53)


def trig_fits():
    quarter = (pi / 4 * mpf('1.0001')) ** 2
    for name, sin_degree, cos_degree, result in (('narrow', 3, 3, 'f32'), ('wide', 6, 5, 'f64')):
        fit(f'sin_{name}_poly', f'sin(x) = x + x^3 p(x^2), |x| <= pi/4, for a result in {result}', sin_rest,
            lambda z: z, 0, quarter, sin_degree, 53)
        fit(f'cos_{name}_poly', f'cos(x) = 1 - x^2 / 2 + x^4 p(x^2), |x| <= pi/4, for a result in {result}', cos_rest,
            lambda z: z * z, 0, quarter, cos_degree, 53)


def modulo4(shift):
    """2^shift * 2/pi modulo 4, in [-2, 2)."""
    with mp.workdps(400):
        value = mpf(2) ** shift * 2 / pi
        return +(value - 4 * floor(value / 4 + mpf('0.5')))


def reduction_rows(name, shifts, count, comment):
    print(f'\n// {comment}')
    print(f'static const double {name}[{len(shifts)}][{count}] = {{')
    for shift in shifts:
        parts = []
        with mp.workdps(400):
            value = modulo4(shift) if shift > 0 else 2 / pi
            for _ in range(count):
                part = round_to(value, 53)
                parts.append(literal(part, 53))
                value -= part
        lines = ',\n     '.join(', '.join(parts[i:i + 3]) for i in range(0, count, 3))
        print(f'    {{{lines}}},')
    print('};')


def constants():
    for suffix, bits in (('F32', 24), ('F64', 53)):
        pieces(f'LN2_{suffix}', log(2), bits)
        pieces(f'LOG2E_{suffix}', 1 / log(2), bits, 1)
    print('// ln 2 again, the first piece short enough that its product with an exponent is exact.')
    for suffix, bits, short in (('F32', 24, 15), ('F64', 53, 42)):
        head = round_to(log(2), short)
        print(f'#define LN2_SHORT_{suffix}_0 {literal(head, bits)}')
        print(f'#define LN2_SHORT_{suffix}_1 {literal(round_to(log(2) - head, bits), bits)}')
    pieces('HALF_PI', pi / 2, 53)
    print('// 2 / ln 2 over 1, 3 and 5: the first coefficients of log2 in s.')
    for k in (1, 3, 5):
        pieces(f'LOG2_COEFFICIENT_{k}', 2 / log(2) / k, 53)


def main():
    print('// Constants of runtime/math. Written by tools/fit_math.py; change that, not this.\n'
          '// Errors are relative to the result unless a line says otherwise.\n'
          '#ifndef TSPEC_RUNTIME_MATH_COEFFICIENTS_H\n#define TSPEC_RUNTIME_MATH_COEFFICIENTS_H\n\n'
          '// clang-format off')
    constants()
    exp_fits()
    log_fits()
    tanh_fits()
    erf_fits()
    trig_fits()
    reduction_rows('turns_f32', (0, 23, 46, 69, 92), 2,
                   '2/pi, then 2^s * 2/pi modulo 4 for s = 23, 46, 69, 92, in pieces')
    reduction_rows('turns_f64', [0] + [1 + 32 * g for g in range(1, 31)], 4,
                   '2/pi, then 2^s * 2/pi modulo 4 for s = 1 + 32 g, in pieces')
    print('// clang-format on\n\n#endif')


main()
