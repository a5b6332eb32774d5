#include <algorithm>

#include "common/precisions.hpp"
#include "native/residues/kernels.cuh"
#include "native/residues/residues.hpp"

namespace chol::cuda::residues {
namespace {

/// Tiles that a multiprocessor works on at a time in a panel.
constexpr int kGroups = 2;

template <class T>
class LeftLooking {
 public:
  LeftLooking(const BatchProblem<T>& problem, const Workspace<T>& work, Blas& blas,
              Progress& progress, cudaStream_t stream)
      : problem_(problem),
        work_(work),
        blas_(blas),
        progress_(progress),
        stream_(stream),
        panel_(work.panel_columns) {}

  /// A product over all columns to the left of a panel at once: to form most of it beside the panel
  /// before would write and read the sums twice, which costs more than that hides.
  Status run(int64_t* factored) {
    *factored = 0;
    prepare();
    const auto panels = static_cast<int>((problem_.n + panel_ - 1) / panel_);
    for (int k = 0; k < panels && status_.ok(); ++k) {
      if (k > 0 && !is_native(k)) subtract_products(k);
      if (k > 0 && !is_certified(k - 1)) break;
      if (k > 0 && is_native(k)) update(k);
      factor(k);
      if (k + 1 < panels) quantize(k);
      *factored = std::min((k + 1) * panel_, problem_.n);
    }
    if (is_indefinite_) *factored = problem_.n;
    return status_;
  }

 private:
  int64_t start(int panel) const { return panel * panel_; }
  int64_t width(int panel) const { return std::min(panel_, problem_.n - start(panel)); }
  int64_t rows_from(int panel) const { return problem_.n - start(panel); }
  bool is_native(int panel) const { return start(panel) < work_.native_columns; }
  T* at(int64_t i, int64_t j) const {
    const int64_t ld = problem_.A.ld;
    return problem_.A.first + (problem_.swapped ? i * ld + j : j * ld + i);
  }
  void keep(Status status) {
    if (status_.ok()) status_ = status;
  }
  void prepare();
  void update(int panel);
  void subtract_products(int panel);
  void multiply(int panel, const Planes& of_block, int part);
  void reconstruct(int panel);
  void factor(int panel);
  void quantize(int panel);
  bool is_certified(int panel);
  /// Sums of the products of a panel, part 0 of the real or 1 of the imaginary parts.
  Sums sums(int panel, int part) const {
    Sums sums = work_.sums[part];
    sums.ld = padded(problem_.swapped ? width(panel) : rows_from(panel));
    sums.stride = sums.ld * padded(problem_.swapped ? rows_from(panel) : width(panel));
    return sums;
  }
  Planes planes_from(int64_t row, int64_t column) const {
    Planes planes = work_.planes;
    planes.first = planes.at(row, column);
    return planes;
  }
  unsigned blocks(int64_t count, int64_t each) const {
    return static_cast<unsigned>((count + each - 1) / each);
  }

  const BatchProblem<T>& problem_;
  const Workspace<T>& work_;
  Blas& blas_;
  Progress& progress_;
  cudaStream_t stream_;
  int64_t panel_;               ///< columns
  bool is_indefinite_ = false;  ///< info of a panel is not 0
  Status status_;
};

template <class T>
void LeftLooking<T>::prepare() {
  const int64_t n = problem_.n, padding = padded(n) - n;
  keep(status_of(cudaMemsetAsync(work_.flagged, kNone & 255, sizeof(int), stream_), "flag"));
  for (int k = 0; k < kModuli<T> && padding > 0; ++k)
    keep(status_of(cudaMemsetAsync(work_.planes.at(n, 0) + k * work_.planes.stride, 0,
                                   padding * work_.planes.ld, stream_),
                   "padding of planes"));
  const LowerView<T> A{problem_.A.first, problem_.A.ld, problem_.swapped};
  find_scales<T><<<blocks(n, kThreads), kThreads, 0, stream_>>>(
      A, static_cast<int>(n), moduli<kModuli<T>>().half_log2, work_.scales, work_.flagged);
  keep(launched("scales of rows"));
}

/// Subtracts the products with the columns before a panel natively.
template <class T>
void LeftLooking<T>::update(int panel) {
  const int64_t column = start(panel), columns = width(panel), next = column + columns;
  keep(blas_.subtract_square(problem_.swapped, columns, column, at(column, 0), problem_.A.ld,
                             at(column, column), problem_.A.ld));
  if (next < problem_.n && status_.ok())
    keep(blas_.subtract_product(problem_.swapped, problem_.n - next, columns, column, at(next, 0),
                                at(column, 0), at(next, column), problem_.A.ld));
}

template <class T>
void LeftLooking<T>::reconstruct(int panel) {
  const int64_t column = start(panel), rows = rows_from(panel), columns = width(panel);
  const Reconstruction<T> call{at(column, column),
                               problem_.A.ld,
                               static_cast<int>(rows),
                               static_cast<int>(columns),
                               work_.scales.down + column,
                               sums(panel, 0),
                               sums(panel, kParts<T> - 1),
                               panel,
                               work_.flagged,
                               moduli<kModuli<T>>().from};
  const int64_t fast = problem_.swapped ? columns : rows, slow = problem_.swapped ? rows : columns;
  const dim3 grid(blocks(fast, kThreads), static_cast<unsigned>(std::min<int64_t>(slow, 65535)));
  if (problem_.swapped)
    residues::reconstruct<T, true><<<grid, kThreads, 0, stream_>>>(call);
  else
    residues::reconstruct<T, false><<<grid, kThreads, 0, stream_>>>(call);
  keep(launched("reconstruction"));
}

template <class T>
void LeftLooking<T>::factor(int panel) {
  if (status_.ok())
    keep(persistent::factor_columns(problem_, start(panel), width(panel), kGroups, work_.panel,
                                    stream_));
}

/// The rows below a panel's diagonal block, and how far the device is.
template <class T>
void LeftLooking<T>::quantize(int panel) {
  const int64_t column = start(panel), row = column + width(panel), rows = problem_.n - row;
  const Scales& scales = work_.scales;
  const Quantization<T> call{at(row, column),
                             problem_.A.ld,
                             static_cast<int>(rows),
                             static_cast<int>(width(panel)),
                             {scales.up + row, scales.down + row, scales.squares + row},
                             planes_from(row, column * kParts<T>),
                             panel,
                             moduli<kModuli<T>>().half * (1 - 1e-9),
                             work_.flagged,
                             moduli<kModuli<T>>().to};
  const unsigned grid = blocks(rows, kRowsOfBlock);
  if (problem_.swapped)
    residues::quantize<T, true><<<grid, kThreads, 0, stream_>>>(call);
  else
    residues::quantize<T, false><<<grid, kThreads, 0, stream_>>>(call);
  keep(launched("quantization"));
  if (status_.ok()) keep(progress_.send(panel, work_.flagged, problem_.info, stream_));
}

/// Whether the panel and those before it are factored, and their rows' products exact.
template <class T>
bool LeftLooking<T>::is_certified(int panel) {
  if (!status_.ok()) return false;
  Progress::Report report{};
  keep(progress_.receive(panel, &report));
  is_indefinite_ = report.info != 0;
  return status_.ok() && report.flagged == kNone && !is_indefinite_;
}

/// Products of a panel's rows with those of its diagonal block over all columns before it. A call a
/// modulus: at depths of 4096 and more they run at 1.6 times the rate of a strided batch.
template <class T>
void LeftLooking<T>::multiply(int panel, const Planes& of_block, int part) {
  const int64_t rows = padded(rows_from(panel)), columns = padded(width(panel));
  const Planes all = planes_from(start(panel), 0);
  const Planes &a = problem_.swapped ? of_block : all, &b = problem_.swapped ? all : of_block;
  const int64_t rows_a = problem_.swapped ? columns : rows, rows_b = rows + columns - rows_a;
  const Sums to = sums(panel, part);
  for (int k = 0; k < kModuli<T> && status_.ok(); ++k)
    keep(blas_.multiply_bytes(rows_a, rows_b, start(panel) * kParts<T>, a.first + k * a.stride,
                              a.ld, b.first + k * b.stride, b.ld, to.first + k * to.stride, to.ld));
}

template <class T>
void LeftLooking<T>::subtract_products(int panel) {
  const Planes block = planes_from(start(panel), 0);
  multiply(panel, block, 0);
  if constexpr (Traits<T>::is_complex) {
    const int64_t columns = padded(width(panel)), depth = start(panel) * kParts<T>;
    const dim3 grid(blocks(depth, 4 * kThreads), static_cast<unsigned>(columns), kModuli<T>);
    multiply_by_i<<<grid, kThreads, 0, stream_>>>(block, work_.turned, static_cast<int>(columns),
                                                  static_cast<int>(depth));
    keep(launched("product by i"));
    multiply(panel, work_.turned, 1);
  }
  reconstruct(panel);
}

}  // namespace

template <class T>
Workspace<T> Workspace<T>::carve(Arena& arena, int64_t n, const ResidueRow& row) {
  Workspace work;
  work.panel_columns = row.panel;
  work.native_columns = row.native_columns;
  const int64_t panel = std::min(row.panel, n);
  work.panel = persistent::Workspace<T>::carve(arena, n, panel);
  work.scales = {arena.take<double>(n), arena.take<double>(n), arena.take<double>(n)};
  work.flagged = arena.take<int>(1);
  work.info_of_rest = arena.take<int>(1);
  // Rows of a power of two of bytes would fall on the same sets of the cache.
  const int64_t rows = padded(n), ld = padded(n * kParts<T>, kChunk) + kChunk;
  const int64_t columns = padded(panel);
  work.planes = {arena.take<int8_t>(kModuli<T> * rows * ld), ld, rows * ld};
  for (Sums& sums : work.sums) sums.first = arena.take<int>(kModuli<T> * rows * columns);
  if (Traits<T>::is_complex)
    work.turned = {arena.take<int8_t>(kModuli<T> * columns * ld), ld, columns * ld};
  return work;
}

template <class T>
bool can_run(int64_t n) {
  return n * kParts<T> <= kMostDepth && persistent::can_run<T>();
}

template <class T>
Status factor_certified(const BatchProblem<T>& problem, const Workspace<T>& work, Blas& blas,
                        Progress& progress, cudaStream_t stream, int64_t* factored) {
  Status status = progress.prepare();
  if (status.ok()) status = blas.use(stream);
  return status.ok() ? LeftLooking<T>(problem, work, blas, progress, stream).run(factored) : status;
}

Status add_info_of_rest(int* info, const int* rest, int64_t before, cudaStream_t stream) {
  add_info_of_rest<<<1, 1, 0, stream>>>(info, rest, static_cast<int>(before));
  return launched("info of the rest");
}

#define CHOL_INSTANTIATE(T)                                                               \
  template struct Workspace<T>;                                                           \
  template bool can_run<T>(int64_t);                                                      \
  template Status factor_certified<T>(const BatchProblem<T>&, const Workspace<T>&, Blas&, \
                                      Progress&, cudaStream_t, int64_t*);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda::residues
