#include "tlr/source.hpp"

#include <atomic>

#include "base/precisions.h"

namespace chol::tlr {
namespace {

/// Records the first evaluation that failed.
class Failure {
 public:
  void note(int64_t row, int64_t column, int code) {
    bool expected = false;
    if (code == 0 || !is_noted_.compare_exchange_strong(expected, true)) return;
    row_ = row;
    column_ = column;
    code_ = code;
  }
  bool is_noted() const { return is_noted_; }
  Status status(const char* function) const {
    if (!is_noted_) return Status::success();
    return Status::error(CHOL_STATUS_CALLBACK_FAILED,
                         "%s: fill returned %d for the block at row %lld, column %lld", function,
                         code_, static_cast<long long>(row_), static_cast<long long>(column_));
  }

 private:
  std::atomic<bool> is_noted_{false};
  int64_t row_ = 0, column_ = 0;
  int code_ = 0;
};

}  // namespace

template <class T>
int CallbackSource<T>::call(const backend::Block<T>& block) const {
  // A C++ callback may throw: on a thread of the library the exception would terminate the program.
  try {
    return fill_(context_, block.row, block.column, block.rows, block.columns, block.elements,
                 block.ld);
  } catch (...) {
    return 1;
  }
}

template <class T>
Status CallbackSource<T>::fill(backend::TileOps<T>& ops,
                               const std::vector<backend::Block<T>>& blocks) {
  std::vector<backend::Block<T>> filled = blocks;
  std::vector<Buffer<T>> staging;
  if (ops.memory())
    for (backend::Block<T>& block : filled) {
      staging.emplace_back(block.rows * block.columns);
      block.elements = staging.back().get();
      block.ld = block.rows;
    }
  Failure failure;
  ops.for_each(std::ssize(filled), [&](int64_t b) {
    if (!failure.is_noted()) failure.note(filled[b].row, filled[b].column, call(filled[b]));
  });
  if (ops.memory() && !failure.is_noted())
    for (size_t b = 0; b < blocks.size(); ++b)
      ops.transfer(blocks[b].rows, blocks[b].columns, filled[b].elements, filled[b].ld,
                   blocks[b].elements, blocks[b].ld);
  return failure.status(function_);
}

template <class T>
Status DenseSource<T>::fill(backend::TileOps<T>& ops,
                            const std::vector<backend::Block<T>>& blocks) {
  std::vector<backend::Copy<T>> copies;
  std::vector<Buffer<T>> staging;
  for (const backend::Block<T>& block : blocks) {
    const int64_t row = upper_ ? block.column : block.row,
                  rows = upper_ ? block.columns : block.rows;
    const int64_t column = upper_ ? block.row : block.column;
    const int64_t columns = upper_ ? block.rows : block.columns;
    backend::Copy<T> copy{upper_, rows,           columns, dense_ + row + column * ld_,
                          ld_,    block.elements, block.ld};
    if (ops.memory()) {
      staging.push_back(ops.buffer(rows * columns));
      ops.transfer(rows, columns, copy.from, ld_, staging.back().get(), rows);
      copy.from = staging.back().get();
      copy.ld_from = rows;
    }
    copies.push_back(copy);
  }
  ops.copy(copies);
  return Status::success();
}

#define CHOL_INSTANTIATE(prefix, T, R) \
  template class CallbackSource<T>;    \
  template class DenseSource<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
