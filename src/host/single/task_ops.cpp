#include "host/single/task_ops.hpp"

#include "base/threads/parallel_for.hpp"
#include "host/single/tile_size.hpp"

namespace chol::host {

using backend::Range;
using backend::RhsGroup;
using backend::Substitution;

double KernelsOn::serial_ns(double flops) const {
  return tile_kernel_ns(flops, element_bytes, real_bytes);
}

size_t KernelFactorOps::slot_bytes(int64_t columns) const {
  return on_.kernels.strip_elements(on_.matrix.n, columns) * on_.element_bytes;
}

int64_t KernelFactorOps::update_depth() const {
  return kPassBytes / static_cast<int64_t>(on_.element_bytes);
}

void KernelFactorOps::carve(Arena& arena, int64_t columns, int64_t slots) {
  columns_ = columns;
  slots_ = slots;
  strips_ = arena.take<char>(slot_bytes(columns * slots));
  reciprocal_ = arena.take<char>(columns * slots * on_.real_bytes);
}

/// Each strip contains the columns of all slots, one slot after the other.
PanelStrips KernelFactorOps::strips(int64_t slot) const {
  const size_t column = static_cast<size_t>(slot * columns_);
  return {strips_ + column * on_.kernels.strip_width * on_.element_bytes, columns_ * slots_,
          reciprocal_ + column * on_.real_bytes};
}

int64_t KernelFactorOps::potrf(Range tile, int64_t slot) {
  return on_.kernels.factor_block(on_.matrix, tile.first, tile.last, strips(slot));
}

void KernelFactorOps::trsm(Range rows, Range columns, int64_t slot) {
  on_.kernels.solve_rows(on_.matrix, columns.first, columns.size(), rows.first, rows.last,
                         strips(slot));
}

void KernelFactorOps::update(Range rows, Range columns, Range factored, int64_t slot) {
  if (product_) {
    const SerialBlas serial;
    product_(on_.matrix, rows.first, rows.last, columns.first, columns.last, factored.first,
             factored.last);
  } else {
    on_.kernels.update_tile(on_.matrix, rows.first, rows.last, columns.first, columns.last,
                            factored.size(), strips(slot));
  }
}

/// Tiles of complex unknowns are 1.5 times as wide as strips; three of them are as wide as two
/// strips.
int64_t KernelSolveOps::granularity() const {
  return on_.kernels.strip_rows * (on_.element_bytes > on_.real_bytes ? 3 : 1);
}

size_t KernelSolveOps::offset(int64_t group, int64_t column) const {
  const auto align_up = [](size_t bytes) {
    return (bytes + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
  };
  const size_t unknowns = column * on_.matrix.n * on_.element_bytes;
  return group * (align_up(on_.kernels.solve_buffer_bytes(on_.matrix.n, 0)) + Arena::kAlignment) +
         align_up(unknowns);
}

void KernelSolveOps::carve(Arena& arena, int64_t groups) {
  const int64_t width = rhs_granularity();
  buffers_ = arena.take<char>(offset(groups, (nrhs_ + width - 1) / width * width));
}

void KernelSolveOps::load(const RhsGroup& group, Range unknowns) {
  on_.kernels.load_rhs(on_.matrix, B_, ldb_, group.columns.first, group.columns.last,
                       unknowns.first, unknowns.last, buffer(group));
}

void KernelSolveOps::store(const RhsGroup& group, Range unknowns) {
  on_.kernels.store_rhs(on_.matrix, B_, ldb_, group.columns.first, group.columns.last,
                        unknowns.first, unknowns.last, buffer(group));
}

void KernelSolveOps::update(Substitution sweep, const RhsGroup& group, Range unknowns,
                            Range known) {
  on_.kernels.substitute(on_.matrix, sweep == Substitution::backward, group.columns.size(),
                         known.first, known.last, unknowns.first, unknowns.last, buffer(group));
}

double KernelVectorOps::serial_ns(double flops) const {
  constexpr double kBytesPerNs = 10;  // of a factor read from memory
  return flops / 2 * static_cast<double>(on_.element_bytes) / kBytesPerNs;
}

/// One block at a time: dot products are sums over blocks, independent of the number of ready
/// blocks.
void KernelVectorOps::update(Substitution sweep, const RhsGroup&, Range unknowns, Range known) {
  const bool backward = sweep == Substitution::backward;
  const int64_t blocks = (known.size() + segment_ - 1) / segment_;
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t first = known.first + (backward ? blocks - 1 - i : i) * segment_;
    const int64_t last = first + segment_ < known.last ? first + segment_ : known.last;
    on_.kernels.substitute_vector(on_.matrix, backward, first, last, unknowns.first, unknowns.last,
                                  x_);
  }
}

/// Memory for about n + columns rows of `columns` elements.
void KernelInverseOps::carve(Arena& arena, int64_t columns) {
  const auto take = [&](int64_t rows) {
    return arena.take<char>(on_.kernels.strip_elements(rows, columns) * on_.element_bytes);
  };
  factor_ = {take(columns), columns, nullptr};
  factor_.reciprocal = arena.take<char>(columns * on_.real_bytes);
  strips_ = {take(on_.matrix.n), columns, nullptr};
}

void KernelInverseOps::pack(Range block) {
  on_.kernels.pack_factor(on_.matrix, block.first, block.last, factor_);
}

void KernelInverseOps::trsm(Range block, Range rows) {
  on_.kernels.invert_rows(on_.matrix, block.first, block.last, rows.first, rows.last, factor_,
                          strips_);
}

void KernelInverseOps::update(Range block, Range rows, Range columns) {
  on_.kernels.invert_tile(on_.matrix, block.first, block.last, rows.first, rows.last, columns.first,
                          columns.last, strips_);
}

}  // namespace chol::host
