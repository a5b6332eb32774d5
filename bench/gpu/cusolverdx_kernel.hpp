// The kernels around cuSOLVERDx's device function, as NVRTC compiles them: matrices are loaded from
// device memory, processed by the function, and the results are stored. The function is declared
// here and linked in; a macro gives each number.
#pragma once

namespace chol::bench::dx {

/// The function's name in the code that libmathdx gives, and in the text below.
constexpr const char* kFunction = "cusolverdx_function";

/// For a block's function: "square" moves the full n x n array, "triangle" only the lower triangle.
/// For a thread's function: "direct" reads a matrix into registers, "staged" reads the block's
/// matrices into shared memory first.
constexpr const char* kKernelNames[2][2] = {{"square", "triangle"}, {"direct", "staged"}};

constexpr const char* kKernelText = R"cuda(
// N, NRHS, LD (of A in shared memory), PER_BLOCK, THREADS, REAL, PARTS (2 when complex),
// FACTORS and SOLVES (potrf, potrs, both for posv), BY_THREAD
struct alignas(sizeof(REAL) * PARTS) Element {
  REAL parts[PARTS];
};
extern "C" __device__ void cusolverdx_function(
#if !SOLVES
    Element* A, int* info
#elif FACTORS
    Element* A, Element* B, int* info
#else
    Element* A, Element* B
#endif
);

__device__ void call(Element* A, Element* B, int* info) {
#if !SOLVES
  cusolverdx_function(A, info);
#elif FACTORS
  cusolverdx_function(A, B, info);
#else
  cusolverdx_function(A, B);
#endif
}

// Elements of the widest access, 16 bytes at most, that divides a run of `length` elements.
__device__ constexpr int width(int length) {
  int elements = 16 / int(sizeof(Element));
  while (length % elements) elements /= 2;
  return elements;
}

template <int kElements>
struct alignas(sizeof(Element) * kElements) Piece {
  Element elements[kElements];
};

template <int kElements>
__device__ void copy_piece(Element* to, const Element* from) {
  *reinterpret_cast<Piece<kElements>*>(to) = *reinterpret_cast<const Piece<kElements>*>(from);
}

// Copies into shared memory without using registers: every access of a block is in flight at once.
template <int kElements>
__device__ void fetch_piece(Element* to, const Element* from) {
  const unsigned at = unsigned(__cvta_generic_to_shared(to));
  constexpr int kBytes = kElements * int(sizeof(Element));
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(kBytes)
                 : "memory");
}
__device__ void wait_for_fetched() {
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
}

// Columns of kRows rows at kLd in shared memory, dense in device memory, of the block's matrices.
// A piece above the diagonal is left out where only the triangle is wanted; one that crosses it
// carries what it read back.
template <int kRows, int kColumns, int kLd, int kStride, bool kTriangle, bool kFetch>
__device__ void move(Element* shared, Element* const* matrices, int count) {
  constexpr bool kColumnwise = kTriangle || kLd != kRows;
  constexpr int kWidth = width(kStride % width(kRows * kColumns) ? 1
                               : kColumnwise                     ? kRows
                                                                 : kRows * kColumns);
  constexpr int kPieces = kRows * kColumns / kWidth;
#pragma unroll 4
  for (int k = threadIdx.x; k < kPieces * PER_BLOCK; k += THREADS) {
    const int m = k / kPieces, offset = (k % kPieces) * kWidth;
    const int i = offset % kRows, j = offset / kRows;
    if (kTriangle && i + kWidth <= j) continue;
    Element* const here = shared + m * kStride + j * kLd + i;
    // A block with too few matrices works on copies of its last one.
    if (kFetch)
      fetch_piece<kWidth>(here, matrices[m < count ? m : count - 1] + offset);
    else if (m < count)
      copy_piece<kWidth>(matrices[m] + offset, here);
  }
}

extern __shared__ __align__(128) char memory[];

constexpr int kUp = 16 / int(sizeof(Element));
constexpr int kRightSides = (PER_BLOCK * LD * N + kUp - 1) / kUp * kUp;

#if !BY_THREAD
template <bool kTriangle>
__device__ void by_block(Element* const* A, Element* const* B, int* info, int batch) {
  __shared__ int status[PER_BLOCK];
  Element* const a = reinterpret_cast<Element*>(memory);
  Element* const b = a + kRightSides;
  const int first = blockIdx.x * PER_BLOCK;
  const int count = batch - first < PER_BLOCK ? batch - first : PER_BLOCK;
  move<N, N, LD, LD * N, kTriangle, true>(a, A + first, count);
  if constexpr (SOLVES) move<N, NRHS, N, N * NRHS, false, true>(b, B + first, count);
  wait_for_fetched();
  call(a, b, status);
  __syncthreads();
  if constexpr (FACTORS) {
    move<N, N, LD, LD * N, kTriangle, false>(a, A + first, count);
    for (int m = threadIdx.x; m < count; m += THREADS) info[first + m] = status[m];
  }
  if constexpr (SOLVES) move<N, NRHS, N, N * NRHS, false, false>(b, B + first, count);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    square(Element* const* A, Element* const* B, int* info, int batch) {
  by_block<false>(A, B, info, batch);
}
extern "C" __global__ void __launch_bounds__(THREADS)
    triangle(Element* const* A, Element* const* B, int* info, int batch) {
  by_block<true>(A, B, info, batch);
}
#else
template <int kWidth, int kCount>
__device__ void copy_run(Element* to, const Element* from) {
#pragma unroll
  for (int k = 0; k < kCount; k += kWidth) copy_piece<kWidth>(to + k, from + k);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    direct(Element* const* A, Element* const* B, int* info, int batch) {
  const int m = blockIdx.x * THREADS + threadIdx.x;
  if (m >= batch) return;
  alignas(16) Element a[N * N], b[N * NRHS + 1];
  int status = 0;
  copy_run<width(N * N), N * N>(a, A[m]);
  if constexpr (SOLVES) copy_run<width(N * NRHS), N * NRHS>(b, B[m]);
  call(a, b, &status);
  if constexpr (FACTORS) copy_run<width(N * N), N * N>(A[m], a), info[m] = status;
  if constexpr (SOLVES) copy_run<width(N * NRHS), N * NRHS>(B[m], b);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    staged(Element* const* A, Element* const* B, int* info, int batch) {
  // An odd stride: the threads of a warp meet in no bank.
  constexpr int kA = N * N | 1, kB = N * NRHS | 1;
  Element* const as = reinterpret_cast<Element*>(memory);
  Element* const bs = as + kA * PER_BLOCK;
  const int first = blockIdx.x * THREADS, t = threadIdx.x;
  const int count = batch - first < THREADS ? batch - first : THREADS;
  move<N, N, N, kA, true, true>(as, A + first, count);
  if constexpr (SOLVES) move<N, NRHS, N, kB, false, true>(bs, B + first, count);
  wait_for_fetched();
  Element a[N * N], b[N * NRHS + 1];
  int status = 0;
  copy_run<1, N * N>(a, as + t * kA);
  if constexpr (SOLVES) copy_run<1, N * NRHS>(b, bs + t * kB);
  call(a, b, &status);
  if constexpr (FACTORS) copy_run<1, N * N>(as + t * kA, a);
  if constexpr (SOLVES) copy_run<1, N * NRHS>(bs + t * kB, b);
  __syncthreads();
  if constexpr (FACTORS) {
    move<N, N, N, kA, true, false>(as, A + first, count);
    if (t < count) info[first + t] = status;
  }
  if constexpr (SOLVES) move<N, NRHS, N, kB, false, false>(bs, B + first, count);
}
#endif
)cuda";

}  // namespace chol::bench::dx
