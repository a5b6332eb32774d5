"""SciPy's and NumPy's Cholesky routines: prints verdicts, the same with and without the preload."""
import multiprocessing

import numpy as np
import scipy.linalg as la

random = np.random.default_rng(5)


def positive_definite(n, dtype, batch=()):
    A = random.standard_normal(batch + (n, n))
    if np.issubdtype(dtype, np.complexfloating):
        A = A + 1j * random.standard_normal(batch + (n, n))
    A = A @ np.conj(np.swapaxes(A, -1, -2)) + n * np.eye(n)
    return A.astype(dtype)


def verdict(got, expected):
    eps = np.finfo(expected.dtype).eps
    worst = np.max(np.abs(got - expected), initial=0) / max(np.max(np.abs(expected), initial=0), 1)
    return "accurate" if worst < 30 * eps * max(expected.shape[-1], 1) else "off by %g eps" % (
        worst / eps)


def outcome(call):
    try:
        call()
        return "no error"
    except Exception as error:  # the message is compared
        return "%s: %s" % (type(error).__name__, error)


def single(n, dtype):
    A = positive_definite(n, dtype)
    for order in "CF":
        for lower in (False, True):
            B = np.array(A, order=order)
            c, low = la.cho_factor(B, lower=lower)
            L = np.tril(c) if low else np.triu(c).conj().T
            print(np.dtype(dtype).name, n, order, lower, verdict(L @ L.conj().T, A), end=" ")
            x = np.ones((n, 3), dtype)
            print(verdict(la.cho_solve((c, low), A @ x), x), end=" ")
            print(verdict(la.solve(B, A @ x, assume_a="pos", lower=lower), x), end=" ")
            inverse, info = la.get_lapack_funcs("potri", (c,))(c, lower=lower)
            whole = np.tril(inverse) + np.tril(inverse, -1).conj().T if lower else (
                np.triu(inverse) + np.triu(inverse, 1).conj().T)
            print(info, verdict(whole @ A, np.eye(n, dtype=dtype)))
            print("  cholesky", verdict(np.abs(la.cholesky(B, lower=lower)),
                                        np.abs(L if lower else L.conj().T)))


def errors(dtype):
    for where in (0, 3, 5):
        A = positive_definite(6, dtype)
        A[where, where] = -1
        print(outcome(lambda: la.cholesky(A, lower=True)), "|", outcome(lambda: la.cho_factor(A)),
              "|", outcome(lambda: np.linalg.cholesky(A)), "|",
              outcome(lambda: la.solve(A, np.ones(6), assume_a="pos")))
    print(outcome(lambda: la.cholesky(np.ones((2, 3), dtype))))
    A = positive_definite(4, dtype)
    A[1, 1] = np.inf
    print(outcome(lambda: la.cholesky(A, check_finite=False)))


def in_worker(n):
    A = positive_definite(n, float)
    return verdict(np.linalg.cholesky(A) @ np.linalg.cholesky(A).T, A)


for dtype in (np.float32, np.float64, np.complex64, np.complex128):
    for n in (1, 2, 7, 40, 300):
        single(n, dtype)
    for n, batch in ((1, (5,)), (8, (100,)), (30, (3, 4)), (4, (0,)), (0, (3,))):
        A = positive_definite(n, dtype, batch)
        L = np.linalg.cholesky(A)
        print("batch", n, batch, verdict(L @ np.conj(np.swapaxes(L, -1, -2)), A))
    errors(dtype)
np.linalg.cholesky(positive_definite(500, float))  # with threads, which the workers do not inherit
with multiprocessing.get_context("fork").Pool(3) as pool:
    print(pool.map(in_worker, [10, 200, 500, 600]))
