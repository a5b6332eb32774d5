#!/usr/bin/env python3
"""Times SciPy's cho_factor and NumPy's linalg.cholesky as this process finds them.

Run it alternately without and under the preload; each run prints lines `case,milliseconds` (medians).
With the arguments `compare LIBRARY [ROUNDS]` it does so itself and prints the ratios.
"""
import os
import subprocess
import sys
import time


def median_ms(call, least_seconds=0.4, least=5):
    call()
    spent = []
    while len(spent) < least or sum(spent) < least_seconds:
        start = time.perf_counter()
        call()
        spent.append(time.perf_counter() - start)
    return 1e3 * sorted(spent)[len(spent) // 2]


def measure():
    import numpy
    import scipy.linalg

    random = numpy.random.default_rng(1)

    def positive_definite(*shape):
        A = random.uniform(-1, 1, shape)
        return A + numpy.swapaxes(A, -1, -2) + 2 * shape[-1] * numpy.eye(shape[-1])

    for n in (1000, 2000, 3000, 5000):
        A = positive_definite(n, n)
        ms = median_ms(lambda: scipy.linalg.cho_factor(A, lower=True, check_finite=False), 0.2, 3)
        print(f"scipy cho_factor n={n},{ms:.4f}", flush=True)
    for batch, n in ((10000, 8), (1000, 64)):
        A = positive_definite(batch, n, n)
        print(f"numpy cholesky ({batch}, {n}, {n}),{median_ms(lambda: numpy.linalg.cholesky(A)):.4f}",
              flush=True)


def compare(library, rounds):
    results = {}
    for _ in range(rounds):
        for preload in ("", library):
            run = subprocess.run([sys.executable, __file__], check=True, capture_output=True,
                                 text=True, env=dict(os.environ, LD_PRELOAD=preload))
            for line in run.stdout.splitlines():
                case, ms = line.rsplit(",", 1)
                results.setdefault(case, {}).setdefault(bool(preload), []).append(float(ms))
    print("case;without ms;with ms;ratio;lowest;highest")
    for case, sides in results.items():
        without, under = sides[False], sides[True]
        ratios = sorted(a / b for a, b in zip(without, under))
        print(f"{case};{sorted(without)[rounds // 2]:.3f};{sorted(under)[rounds // 2]:.3f};"
              f"{ratios[rounds // 2]:.2f};{ratios[0]:.2f};{ratios[-1]:.2f}")


if len(sys.argv) > 2 and sys.argv[1] == "compare":
    compare(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 5)
else:
    measure()
