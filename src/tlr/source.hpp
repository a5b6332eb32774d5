// Sources of the elements of a matrix.
#pragma once

#include <vector>

#include "backend/tile_ops.hpp"
#include "base/status.hpp"
#include "chol.h"

namespace chol::tlr {

/// Fills blocks on or below the diagonal; in diagonal blocks only the lower triangle is used.
template <class T>
class Source {
 public:
  virtual ~Source() = default;
  virtual Status fill(backend::TileOps<T>& ops, const std::vector<backend::Block<T>>& blocks) = 0;
};

template <class T>
class CovarianceSource final : public Source<T> {
 public:
  explicit CovarianceSource(const backend::Covariance& covariance) : covariance_(covariance) {}
  Status fill(backend::TileOps<T>& ops, const std::vector<backend::Block<T>>& blocks) override {
    ops.evaluate(covariance_, blocks);
    return Status::success();
  }

 private:
  const backend::Covariance& covariance_;
};

/// A callback function of the caller, which fills host memory on several threads.
template <class T>
class CallbackSource final : public Source<T> {
 public:
  CallbackSource(const char* function, chol_tlr_block_t fill, void* context)
      : function_(function), fill_(fill), context_(context) {}
  Status fill(backend::TileOps<T>& ops, const std::vector<backend::Block<T>>& blocks) override;

 private:
  int call(const backend::Block<T>& block) const;

  const char* function_;
  chol_tlr_block_t fill_;
  void* context_;
};

/// One triangle of a dense matrix, in any memory from which the operations can copy.
template <class T>
class DenseSource final : public Source<T> {
 public:
  DenseSource(const T* dense, int64_t ld, bool upper) : dense_(dense), ld_(ld), upper_(upper) {}
  Status fill(backend::TileOps<T>& ops, const std::vector<backend::Block<T>>& blocks) override;

 private:
  const T* dense_;
  int64_t ld_;
  bool upper_;
};

}  // namespace chol::tlr
