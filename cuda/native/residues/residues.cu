#include <algorithm>

#include "common/precisions.hpp"
#include "native/residues/byte_product/byte_product.hpp"
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
        panel_(work.panel_columns),
        moduli_(moduli<kModuli<T>>(work.moduli)) {}

  /// One product over all columns to the left of a panel: overlapping most of it with the previous
  /// panel would write and read the sums twice, which costs more than it hides.
  Status run(int64_t* factored) {
    *factored = 0;
    prepare();
    const auto panels = static_cast<int>((problem_.n + panel_ - 1) / panel_);
    for (int k = 0; k < panels && status_.ok(); ++k) {
      if (k > 0 && !is_native(k)) subtract_products(k);
      if (k > 0 && !work_.in_capture && !is_certified(k - 1)) break;
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
  void multiply(int panel, const Planes& of_block, int64_t first_of_block, int part);
  void multiply_to_bytes(int panel, const Planes& of_block, int64_t first_of_block, int part);
  template <class Sum>
  void reconstruct(int panel, const SumsOf<Sum> (&sums)[kParts<T>]);
  void factor(int panel);
  void quantize(int panel);
  bool is_certified(int panel);
  void update_if_flagged(int panel);
  /// Of the products of a panel.
  template <class Sum>
  SumsOf<Sum> of_panel(int panel, SumsOf<Sum> sums) const {
    sums.ld = padded(problem_.swapped ? width(panel) : rows_from(panel));
    sums.stride = sums.ld * padded(problem_.swapped ? rows_from(panel) : width(panel));
    return sums;
  }
  Planes planes_from(int64_t row, int64_t column) const {
    Planes planes = work_.planes;
    planes.first = planes.at(row, column);
    planes.fold = {};
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
  int64_t panel_;  ///< columns
  const Moduli<kModuli<T>>& moduli_;
  bool is_indefinite_ = false;  ///< a panel has info other than 0
  Status status_;
};

template <class T>
void LeftLooking<T>::prepare() {
  const int64_t n = problem_.n, padding = padded(n) - n;
  keep(status_of(cudaMemsetAsync(work_.flagged, kNone & 255, sizeof(int), stream_), "flag"));
  // cuBLAS also multiplies them; products of undefined bytes of a staircase are not used.
  for (int k = 0; k < work_.moduli && padding > 0 && !work_.by_bytes; ++k)
    keep(status_of(cudaMemsetAsync(work_.planes.at(n, 0) + k * work_.planes.stride, 0,
                                   padding * work_.planes.ld, stream_),
                   "padding of planes"));
  const LowerView<T> A{problem_.A.first, problem_.A.ld, problem_.swapped};
  find_scales<T><<<blocks(n, kThreads), kThreads, 0, stream_>>>(
      A, static_cast<int>(n), moduli_.half_log2, work_.scales, work_.flagged);
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
template <class Sum>
void LeftLooking<T>::reconstruct(int panel, const SumsOf<Sum> (&sums)[kParts<T>]) {
  const int64_t column = start(panel), rows = rows_from(panel), columns = width(panel);
  const Reconstruction<T, Sum> call{at(column, column),
                                    problem_.A.ld,
                                    static_cast<int>(rows),
                                    static_cast<int>(columns),
                                    work_.scales.down + column,
                                    of_panel(panel, sums[0]),
                                    of_panel(panel, sums[kParts<T> - 1]),
                                    panel,
                                    work_.flagged,
                                    moduli_.from};
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

/// Quantizes the rows below a panel's diagonal block, and queues the report.
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
                             moduli_.half * (1 - 1e-9),
                             work_.flagged,
                             moduli_.to};
  const unsigned grid = blocks(rows, kRowsOfBlock);
  if (problem_.swapped)
    residues::quantize<T, true><<<grid, kThreads, 0, stream_>>>(call);
  else
    residues::quantize<T, false><<<grid, kThreads, 0, stream_>>>(call);
  keep(launched("quantization"));
  if (status_.ok() && !work_.in_capture)
    keep(progress_.send(panel, work_.flagged, problem_.info, stream_));
}

/// Whether the panel and those before it are factored, with exact products of their rows.
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
/// @param first_of_block the diagonal block's first row in of_block
template <class T>
void LeftLooking<T>::multiply(int panel, const Planes& of_block, int64_t first_of_block, int part) {
  const int64_t rows = padded(rows_from(panel)), columns = padded(width(panel));
  const int8_t *const all = work_.planes.at(start(panel), 0), *const block =
                                                                  of_block.at(first_of_block, 0);
  const bool swapped = problem_.swapped;
  const int64_t rows_a = swapped ? columns : rows, rows_b = swapped ? rows : columns;
  const Planes &a = swapped ? of_block : work_.planes, &b = swapped ? work_.planes : of_block;
  const Sums to = of_panel(panel, work_.sums[part]);
  for (int k = 0; k < work_.moduli && status_.ok(); ++k)
    keep(blas_.multiply_bytes(
        rows_a, rows_b, start(panel) * kParts<T>, (swapped ? block : all) + k * a.stride, a.ld,
        (swapped ? all : block) + k * b.stride, b.ld, to.first + k * to.stride, to.ld));
}

/// The same by one kernel, whose results are residues.
template <class T>
void LeftLooking<T>::multiply_to_bytes(int panel, const Planes& of_block, int64_t first_of_block,
                                       int part) {
  const auto rows = static_cast<int>(rows_from(panel)), columns = static_cast<int>(width(panel));
  const bool swapped = problem_.swapped;
  const auto matrix_of = [](const Planes& planes, int64_t all_rows) {
    return ByteMatrix{planes.first, padded(all_rows), planes.ld, planes.ld, planes.stride};
  };
  const ByteMatrix all = matrix_of(work_.planes, problem_.n);
  const ByteMatrix block = matrix_of(of_block, part == 0 ? problem_.n : columns);
  const ByteSource from_all{static_cast<int>(start(panel)), work_.planes.fold};
  const ByteSource from_block{static_cast<int>(first_of_block), of_block.fold};
  const SumsOf<int8_t> to = of_panel(panel, work_.bytes[part]);
  ByteProduct call{{swapped ? rows : columns, swapped ? columns : rows, work_.moduli, !swapped},
                   static_cast<int>(start(panel)) * kParts<T>,
                   swapped ? from_all : from_block,
                   swapped ? from_block : from_all,
                   {to.first, to.ld, to.stride},
                   {}};
  std::copy_n(moduli_.from.modulus, work_.moduli, call.from.modulus);
  std::copy_n(moduli_.from.reciprocal, work_.moduli, call.from.reciprocal);
  if (status_.ok())
    keep(multiply_bytes(call, swapped ? all : block, swapped ? block : all, stream_));
}

template <class T>
void LeftLooking<T>::subtract_products(int panel) {
  const auto product = work_.by_bytes ? &LeftLooking::multiply_to_bytes : &LeftLooking::multiply;
  (this->*product)(panel, work_.planes, start(panel), 0);
  if constexpr (Traits<T>::is_complex) {
    const int64_t columns = padded(width(panel)), depth = start(panel) * kParts<T>;
    const dim3 grid(blocks(depth, 4 * kThreads), static_cast<unsigned>(columns),
                    static_cast<unsigned>(work_.moduli));
    multiply_by_i<<<grid, kThreads, 0, stream_>>>(work_.planes, start(panel), work_.turned,
                                                  static_cast<int>(columns),
                                                  static_cast<int>(depth));
    keep(launched("product by i"));
    (this->*product)(panel, work_.turned, 0, 1);
  }
  if (work_.by_bytes)
    reconstruct(panel, work_.bytes);
  else
    reconstruct(panel, work_.sums);
  if (work_.in_capture) update_if_flagged(panel);
}

template <class T>
void LeftLooking<T>::update_if_flagged(int panel) {
  const NativeUpdate<T> call{problem_.A.first,
                             problem_.A.ld,
                             static_cast<int>(problem_.n),
                             static_cast<int>(start(panel)),
                             static_cast<int>(width(panel)),
                             panel,
                             work_.flagged};
  const auto grid = static_cast<unsigned>(call.tiles_down() * call.tiles_across());
  if (problem_.swapped)
    residues::update_if_flagged<T, true><<<grid, kThreads, 0, stream_>>>(call);
  else
    residues::update_if_flagged<T, false><<<grid, kThreads, 0, stream_>>>(call);
  keep(launched("native update"));
}

}  // namespace

template <class T>
Workspace<T> Workspace<T>::carve(Arena& arena, int64_t n, const ResidueRow& row) {
  Workspace work;
  work.panel_columns = row.panel;
  work.native_columns = row.native_columns;
  work.moduli = row.moduli > 0 ? row.moduli : kModuli<T>;
  work.by_bytes = row.by_bytes && multiplies_bytes();
  const int64_t panel = std::min(row.panel, n);
  work.panel = persistent::Workspace<T>::carve(arena, n, panel);
  work.scales = {arena.take<double>(n), arena.take<double>(n), arena.take<double>(n)};
  work.flagged = arena.take<int>(1);
  work.info_of_rest = arena.take<int>(1);
  // Rows of a power of two of bytes would map to the same sets of the cache.
  const auto row_bytes = [](int64_t bytes) { return padded(bytes, kChunk) + kChunk; };
  const int64_t rows = padded(n), columns = padded(panel), whole = row_bytes(n * kParts<T>);
  Fold fold;
  if (work.by_bytes)
    fold = {static_cast<int>(row.panel), static_cast<int>(row.panel * kParts<T>),
            static_cast<int>((n + row.panel - 1) / row.panel)};
  const int64_t ld = work.by_bytes ? row_bytes(int64_t{fold.slots()} * fold.bytes) : whole;
  work.planes = {arena.take<int8_t>(work.moduli * rows * ld), ld, rows * ld, fold};
  const int64_t sums = work.moduli * rows * columns;
  for (int part = 0; part < kParts<T>; ++part) {
    if (work.by_bytes)
      work.bytes[part].first = arena.take<int8_t>(sums);
    else
      work.sums[part].first = arena.take<int>(sums);
  }
  if (Traits<T>::is_complex)
    work.turned = {arena.take<int8_t>(work.moduli * columns * whole), whole, columns * whole, {}};
  return work;
}

template <class T>
bool can_run(int64_t n) {
  return n * kParts<T> <= kMostDepth && persistent::can_run<T>();
}

template <class T>
Status factor_certified(const BatchProblem<T>& problem, const Workspace<T>& work, Blas& blas,
                        Progress& progress, cudaStream_t stream, int64_t* factored) {
  Status status = work.in_capture ? Status::success() : progress.prepare();
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
