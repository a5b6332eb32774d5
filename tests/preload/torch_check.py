#!/usr/bin/env python3
"""PyTorch's Cholesky routines on a CUDA device: dtypes, shapes, triangles, info, graphs, backward.

Prints verdicts; the output has to be the same with and without the preload."""
import sys

try:
    import torch
except ImportError:
    print("SKIPPED: no PyTorch")
    sys.exit(77)
if not torch.cuda.is_available():
    print("SKIPPED: no CUDA device")
    sys.exit(77)

torch.manual_seed(3)


def positive_definite(shape, dtype):
    A = torch.randn(*shape, dtype=dtype, device="cuda")
    return A @ A.mH + shape[-1] * torch.eye(shape[-1], dtype=dtype, device="cuda")


def accurate(got, expected):
    eps = torch.finfo(expected.dtype).eps
    scale = torch.linalg.matrix_norm(expected, 1).max().item() + 1e-300
    worst = (got - expected).abs().max().item() / scale if expected.numel() else 0.0
    return "accurate" if worst < 30 * eps * max(expected.shape[-1], 1) else f"off by {worst / eps} eps"


def triangles(A, dtype, shape):
    for upper in (False, True):
        L = torch.linalg.cholesky(A, upper=upper)
        product = L.mH @ L if upper else L @ L.mH
        rest = L.tril(-1) if upper else L.triu(1)
        print(dtype, shape, upper, "cholesky", accurate(product, A), "rest", rest.abs().max().item()
              if rest.numel() else 0)
        b = torch.randn(*shape[:-1], 1, dtype=dtype, device="cuda")
        x = torch.cholesky_solve(b, L, upper=upper)
        print("  solve", accurate(A @ x / torch.linalg.matrix_norm(A, 1).max(), b /
                                  torch.linalg.matrix_norm(A, 1).max()))
        inverse = torch.cholesky_inverse(L, upper=upper)
        eye = torch.eye(shape[-1], dtype=dtype, device="cuda").expand(shape)
        print("  inverse", accurate(A @ inverse, eye))


def bad_matrices(dtype):
    A = positive_definite((6, 9, 9), dtype)
    A[1, 0, 0], A[3, 4, 4], A[5, 8, 8] = -1, -1000, -3
    factor, info = torch.linalg.cholesky_ex(A)
    print(dtype, "info", info.tolist(), accurate((factor @ factor.mH)[[0, 2, 4]], A[[0, 2, 4]]))
    try:
        torch.linalg.cholesky(A)
    except torch.linalg.LinAlgError as error:
        print("  ", str(error).splitlines()[0][:120])


def graph(dtype):
    A = positive_definite((50, 12, 12), dtype)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.linalg.cholesky_ex(A)
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        L, info = torch.linalg.cholesky_ex(A)
    A.copy_(positive_definite((50, 12, 12), dtype))
    captured.replay()
    torch.cuda.synchronize()
    print(dtype, "graph", accurate(L @ L.mH, A), int(info.abs().max()))


for dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128):
    for shape in ((1, 1), (5, 5), (300, 300), (7, 1, 1), (1000, 6, 6), (40, 33, 33), (3, 130, 130),
                  (2, 2, 20, 20), (2, 1100, 1100), (0, 4, 4), (3, 0, 0)):
        if 0 in shape:
            print(dtype, shape, torch.linalg.cholesky(torch.zeros(shape, dtype=dtype,
                                                                  device="cuda")).shape)
        else:
            triangles(positive_definite(shape, dtype), dtype, shape)
    bad_matrices(dtype)
    graph(dtype)
for shape in ((4, 4), (5, 3, 3)):
    A = positive_definite(shape, torch.float64).requires_grad_()
    symmetric = lambda A: torch.linalg.cholesky((A + A.mT) / 2)
    print("backward", shape, torch.autograd.gradcheck(symmetric, (A,)))
