#!/usr/bin/env python3
"""Times torch.linalg.cholesky_ex on a CUDA device as this process finds cuSOLVER: lines `case,ms`.

With --kernels also, of batches, what the device did meanwhile: `  kernel,ms` of one call, which tells
the factorization from PyTorch's own copies.
"""
import sys

import torch


def median_ms(call, rounds=9):
    call()
    spent = []
    for _ in range(rounds):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        end.synchronize()
        spent.append(start.elapsed_time(end))
    return sorted(spent)[rounds // 2]


def print_kernels(call):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        call()
        torch.cuda.synchronize()
    for event in sorted(profile.key_averages(), key=lambda e: -e.device_time_total):
        if event.device_time_total > 0:
            print(f"  {event.key[:60].replace(',', ';')},{event.device_time_total / 1000:.4f}")


def positive_definite(batch, n, dtype):
    A = torch.randn(batch, n, n, dtype=dtype, device="cuda")
    A = A @ A.mT
    A.diagonal(dim1=-2, dim2=-1).add_(n)
    return A


for dtype in (torch.float32, torch.float64):
    for batch, n in [(100000, n) for n in (4, 8, 16, 24, 32, 48, 64)] + [
            (1, n) for n in (512, 1024, 2048, 4096)]:
        A = positive_definite(batch, n, dtype)
        ms = median_ms(lambda: torch.linalg.cholesky_ex(A))
        print(f"cholesky_ex {str(dtype)[6:]} ({batch}, {n}, {n}),{ms:.4f}", flush=True)
        if "--kernels" in sys.argv and batch > 1:
            print_kernels(lambda: torch.linalg.cholesky_ex(A))
        del A
