// LAPACK's xTRTRI and xLAUUM by block columns with inverted diagonal blocks and products by cuBLAS:
// a third of the operations and much less workspace than a solve of the identity. Results of a step
// are written to the workspace and then copied over the factor unless that is singular, which only
// the device knows; so the host need not wait.
#include <algorithm>

#include "batched/inverse_and_logdet.hpp"
#include "chol.h"
#include "common/precisions.hpp"
#include "native/invert.hpp"

namespace chol::cuda {
namespace {

constexpr int64_t kBlock = 256;  ///< rows and columns of a diagonal block
/// Bytes of the inverses of diagonal blocks, and of rows of a block column, at a time.
constexpr int64_t kMostBytes = int64_t(8) << 20;
constexpr int kEdge = 16;  ///< edge of a thread block of the copies

// The entry points of each precision under one name, with the element types that cuBLAS has.
template <class T>
struct Entry;
#define CHOL_ENTRY(T, Its, letter)                        \
  template <>                                             \
  struct Entry<T> {                                       \
    using Element = Its;                                  \
    static constexpr auto gemm = cublas##letter##gemm_64; \
    static constexpr auto trmm = cublas##letter##trmm_64; \
  };
CHOL_ENTRY(float, float, S)
CHOL_ENTRY(double, double, D)
CHOL_ENTRY(Complex<float>, cuComplex, C)
CHOL_ENTRY(Complex<double>, cuDoubleComplex, Z)
#undef CHOL_ENTRY

/// A view of the workspace with the storage order of the matrix.
template <class T>
LowerView<T> alike(const LowerView<T>& A, T* first, int64_t rows, int64_t columns) {
  return {first, std::max<int64_t>(A.swapped ? columns : rows, 1), A.swapped};
}
template <class T>
LowerView<T> from(const LowerView<T>& A, int64_t i, int64_t j) {
  return {A.a + (A.swapped ? i * A.ld + j : j * A.ld + i), A.ld, A.swapped};
}

template <class T>
__device__ __forceinline__ T without_imaginary(T x) {
  return from_real<T>(real(x));
}

/// The (i, j) of a thread, with threads along the lines of a view.
template <class T, class Body>
__device__ __forceinline__ void for_elements(const LowerView<T>& A, int64_t rows, int64_t columns,
                                             Body&& body) {
  const int64_t length = A.swapped ? columns : rows, lines = A.swapped ? rows : columns;
  const int64_t at = int64_t(blockIdx.x) * kEdge + threadIdx.x % kEdge;
  for (int64_t line = int64_t(blockIdx.y) * kEdge + threadIdx.x / kEdge; line < lines;
       line += int64_t(gridDim.y) * kEdge)
    if (at < length) A.swapped ? body(line, at) : body(at, line);
}

/// B := the lower triangle of A with zeros above.
template <class T>
__global__ void triangle_kernel(LowerView<T> A, LowerView<T> B, int64_t n) {
  for_elements(B, n, n,
               [&](int64_t i, int64_t j) { *B.at(i, j) = i < j ? from_real<T>(0) : *A.at(i, j); });
}
/// A := B where info is 0: all of it or the lower triangle; a diagonal block of a Hermitian matrix
/// gets a real diagonal.
enum class Part { all, triangle, hermitian };
template <class T>
__global__ void write_kernel(LowerView<T> B, LowerView<T> A, int64_t rows, int64_t columns,
                             Part part, const int* info) {
  if (*info != 0) return;
  for_elements(A, rows, columns, [&](int64_t i, int64_t j) {
    if (part != Part::all && i < j) return;
    const T x = *B.at(i, j);
    *A.at(i, j) = part == Part::hermitian && i == j ? without_imaginary(x) : x;
  });
}

template <class T>
class Inversion {
 public:
  Inversion(const BatchProblem<T>& problem, const InversionWorkspace<T>& work, Blas& blas,
            cudaStream_t stream)
      : A_{problem.A.first, problem.A.ld, problem.swapped},
        n_(problem.n),
        info_(problem.info),
        work_(work),
        diagonal_(problem.A, problem.n, problem.swapped, work.diagonal, blas, stream),
        blas_(blas.handle()),
        stream_(stream) {}

  Status run() {
    for (int64_t first = (n_ - 1) / kBlock * kBlock; first >= 0; first -= kBlock)
      if (Status status = invert_column(first); !status.ok()) return status;
    for (int64_t first = 0; first < n_; first += kBlock)
      if (Status status = multiply_row(first); !status.ok()) return status;
    return Status::success();
  }

 private:
  using E = typename Entry<T>::Element;

  /// Block column of the inverse of the factor, after the later ones: for [L11 0; L21 L22] it is
  /// [inv(L11); -inv(L22) L21 inv(L11)].
  Status invert_column(int64_t first) {
    const int64_t width = std::min(kBlock, n_ - first), below = n_ - first - width;
    const LowerView<T> L11 = from(A_, first, first), L21 = from(A_, first + width, first);
    const LowerView<T> L22 = from(A_, first + width, first + width);
    const LowerView<T> column = alike(A_, work_.column, below, width);
    Status status = diagonal_.need(first);
    if (!status.ok()) return status;
    const LowerView<T> inverse{diagonal_.inverse(first, first), kBlock, A_.swapped};
    if (below > 0) status = multiply_triangle(L22, L21, column, below, width);
    for (int64_t row = 0; row < below && status.ok(); row += work_.rows) {
      const int64_t rows = std::min(work_.rows, below - row);
      const LowerView<T> part = alike(A_, work_.part, rows, width), its = from(column, row, 0);
      status = diagonal_.multiply(rows, width, width, 1, Operand<T>{its.a, its.ld},
                                  Operand<T>{inverse.a, inverse.ld}, Result<T>{part.a, part.ld});
      if (status.ok()) write(part, from(L21, row, 0), rows, width, Part::all);
    }
    if (!status.ok()) return status;
    write(inverse, L11, width, width, Part::triangle);
    return launched("potri");
  }
  /// Block row i of M^H M, M being the inverse of the factor, from its rows from i on.
  Status multiply_row(int64_t first) {
    const int64_t height = std::min(kBlock, n_ - first), below = n_ - first - height;
    const int64_t before = first, columns = first + height;
    const LowerView<T> M11 = from(A_, first, first), M10 = from(A_, first, 0);
    const LowerView<T> M21 = from(A_, first + height, first), M20 = from(A_, first + height, 0);
    const LowerView<T> block = alike(A_, work_.block, height, height);
    const LowerView<T> row = alike(A_, work_.column, height, columns);
    triangle(M11, block, height);
    Status status = multiply(block, block, from(row, 0, before), height, height, height, 0);
    if (status.ok() && before > 0) status = multiply(block, M10, row, height, before, height, 0);
    if (status.ok() && below > 0) status = multiply(M21, M20, row, height, columns, below, 1);
    if (!status.ok()) return status;
    if (before > 0) write(row, M10, height, before, Part::all);
    write(from(row, 0, before), M11, height, height, Part::hermitian);
    return launched("potri");
  }

  // Swapped views are transposes to cuBLAS: sides and triangles are exchanged, operations are not.
  cublasSideMode_t left() const { return A_.swapped ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT; }
  cublasFillMode_t fill() const {
    return A_.swapped ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  }
  static E scalar(Real<T> x) {
    if constexpr (Traits<T>::is_complex)
      return {x, 0};
    else
      return x;
  }
  static E* element(const LowerView<T>& A) { return reinterpret_cast<E*>(A.a); }

  /// C := -L B.
  Status multiply_triangle(const LowerView<T>& L, const LowerView<T>& B, const LowerView<T>& C,
                           int64_t rows, int64_t columns) const {
    const E minus = scalar(-1);
    return said(Entry<T>::trmm(blas_, left(), fill(), CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                               A_.swapped ? columns : rows, A_.swapped ? rows : columns, &minus,
                               element(L), L.ld, element(B), B.ld, element(C), C.ld));
  }
  /// C := X^H Y + beta C, of X and Y `depth` rows.
  Status multiply(const LowerView<T>& X, const LowerView<T>& Y, const LowerView<T>& C, int64_t rows,
                  int64_t columns, int64_t depth, Real<T> beta) const {
    const E one = scalar(1), its = scalar(beta);
    return said(A_.swapped
                    ? Entry<T>::gemm(blas_, CUBLAS_OP_N, CUBLAS_OP_C, columns, rows, depth, &one,
                                     element(Y), Y.ld, element(X), X.ld, &its, element(C), C.ld)
                    : Entry<T>::gemm(blas_, CUBLAS_OP_C, CUBLAS_OP_N, rows, columns, depth, &one,
                                     element(X), X.ld, element(Y), Y.ld, &its, element(C), C.ld));
  }
  static Status said(cublasStatus_t status) {
    if (status == CUBLAS_STATUS_SUCCESS) return Status::success();
    return Status::error(CHOL_STATUS_DEVICE_ERROR, "potri: %s", cublasGetStatusString(status));
  }

  dim3 grid(int64_t rows, int64_t columns) const {
    const auto blocks = [](int64_t n) { return static_cast<unsigned>((n + kEdge - 1) / kEdge); };
    const int64_t lines = A_.swapped ? rows : columns, length = A_.swapped ? columns : rows;
    return {blocks(length), std::min(blocks(lines), 1024u)};
  }
  void triangle(const LowerView<T>& A, const LowerView<T>& B, int64_t n) const {
    triangle_kernel<<<grid(n, n), kEdge * kEdge, 0, stream_>>>(A, B, n);
  }
  void write(const LowerView<T>& B, const LowerView<T>& A, int64_t rows, int64_t columns,
             Part part) const {
    write_kernel<<<grid(rows, columns), kEdge * kEdge, 0, stream_>>>(B, A, rows, columns, part,
                                                                     info_);
  }

  LowerView<T> A_;
  int64_t n_;
  const int* info_;
  InversionWorkspace<T> work_;
  solve::DiagonalBlocks<T> diagonal_;
  cublasHandle_t blas_;
  cudaStream_t stream_;
};

}  // namespace

template <class T>
InversionWorkspace<T> InversionWorkspace<T>::carve(Arena& arena, int64_t n) {
  const int64_t width = std::min(n, kBlock);
  InversionWorkspace work;
  work.block = arena.take<T>(width * width);
  work.column = arena.take<T>(width * n);
  work.rows = std::min(n, kMostBytes / int64_t(sizeof(T)) / kBlock);
  work.part = arena.take<T>(work.rows * width);
  work.diagonal = solve::DiagonalWorkspace<T>::carve(arena, kBlock, n, kMostBytes);
  return work;
}

template <class T>
Status invert_in_place(const BatchProblem<T>& problem, const InversionWorkspace<T>& work,
                       Blas& blas, cudaStream_t stream) {
  Status status = find_singular(problem, stream);
  if (!status.ok() || problem.n == 0) return status;
  return Inversion<T>(problem, work, blas, stream).run();
}

#define CHOL_INSTANTIATE(T)                                                                       \
  template struct InversionWorkspace<T>;                                                          \
  template Status invert_in_place<T>(const BatchProblem<T>&, const InversionWorkspace<T>&, Blas&, \
                                     cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
