#!/usr/bin/env python3
"""Times dpotrf_ of matrices in host memory: on the device, on the host, and OpenBLAS's.

    offload.py libchol_preload.so [LAPACK] [n...]

LAPACK is a library with dpotrf_; without one the OpenBLAS of the SciPy or NumPy in this Python is
taken, when there is one. Each column is a process of its own; medians of the repetitions after the
first, the input restored before each, outside the timer. The first call, which opens the device, is
told apart. Needs only the standard library.
"""
import array
import ctypes
import glob
import math
import os
import random
import subprocess
import sys
import time

SYMBOLS = (("dpotrf_", 4), ("scipy_dpotrf_", 4), ("dpotrf_64_", 8), ("scipy_dpotrf_64_", 8))


def find_potrf(path):
    library = ctypes.CDLL(path)
    for symbol, size in SYMBOLS:
        if hasattr(library, symbol):
            return getattr(library, symbol), ctypes.c_int64 if size == 8 else ctypes.c_int32
    raise SystemExit(f"{path} has no dpotrf_")


def positive_definite(n):
    """Random elements, a period of which does not divide n, and n on the diagonal."""
    source = random.Random(1)
    period = array.array("d", (source.uniform(-1, 1) for _ in range(65537)))
    matrix = (ctypes.c_double * (n * n))()
    start, end = ctypes.addressof(matrix), 8 * n * n
    address, size = period.buffer_info()
    for offset in range(0, end, 8 * size):
        ctypes.memmove(start + offset, address, min(8 * size, end - offset))
    for i in range(n):
        matrix[i * (n + 1)] = n
    return matrix


def measure(path, orders):
    potrf, integer = find_potrf(path)
    for n in orders:
        matrix = positive_definite(n)
        work = (ctypes.c_double * (n * n))()
        for uplo in (b"L", b"U"):
            spent, info = [], integer(-1)
            for _ in range(4 if n > 10000 else 8):
                ctypes.memmove(work, matrix, 8 * n * n)
                start = time.perf_counter()
                potrf(uplo, ctypes.byref(integer(n)), work, ctypes.byref(integer(n)),
                      ctypes.byref(info), ctypes.c_size_t(1))
                spent.append(1e3 * (time.perf_counter() - start))
            logdet = 2 * sum(math.log(work[i * (n + 1)]) for i in range(n))
            rest = sorted(spent[1:])
            print(f"{n},{uplo.decode()},{spent[0]:.3f},{rest[len(rest) // 2]:.3f},{rest[0]:.3f},"
                  f"{info.value},{logdet:.10e}", flush=True)


def openblas_of_this_python():
    for name in ("scipy", "numpy"):
        try:
            folder = os.path.dirname(os.path.dirname(__import__(name).__file__))
        except ImportError:
            continue
        found = glob.glob(f"{folder}/{name}.libs/*openblas*.so*")
        if found:
            return found[0]
    return None


def compare(library, lapack, orders):
    columns = [("always", library), ("auto", library), ("never", library)]
    if lapack:
        columns.append(("OpenBLAS", lapack))
    print("column;n;uplo;first ms;median ms;best ms;Gflop/s;times the last column;result")
    table = {}
    for name, path in columns:
        run = subprocess.run([sys.executable, __file__, "measure", path, *map(str, orders)],
                             env=dict(os.environ, CHOL_OFFLOAD=name), stdout=subprocess.PIPE,
                             text=True, check=True)
        for line in run.stdout.splitlines():
            n, uplo, *values = line.split(",")
            table[name, n, uplo] = [float(value) for value in values]
    for (name, n, uplo), (first, median, best, info, logdet) in table.items():
        reference = table[columns[-1][0], n, uplo]
        same = info == 0 and abs(logdet - reference[4]) <= 1e-10 * abs(reference[4])
        print(f"{name};{n};{uplo};{first:.2f};{median:.2f};{best:.2f};"
              f"{int(n) ** 3 / 3e6 / median:.0f};{reference[1] / median:.2f};"
              f"{'the same' if same else 'WRONG'}")


if len(sys.argv) > 3 and sys.argv[1] == "measure":
    measure(sys.argv[2], [int(n) for n in sys.argv[3:]])
elif len(sys.argv) > 1:
    named = [a for a in sys.argv[2:] if not a.isdigit()]
    compare(sys.argv[1], named[0] if named else openblas_of_this_python(),
            [int(a) for a in sys.argv[2:] if a.isdigit()] or [1024, 2048, 4096, 8192, 16384])
else:
    raise SystemExit(__doc__)
