// Transfer of a triangle from host memory to the device and back, overlapped with the
// factorization: later columns are sent and earlier ones returned during the computation of those
// in between.
#pragma once

#include <vector>

#include "native/column_watch.hpp"
#include "native/staging.hpp"

namespace chol::cuda {

class RoundTrip final : public ColumnWatch {
 public:
  using HasNan = bool (*)(const char* elements, int64_t count);

  /// @param device destination of the triangle, of the same order and storage. @param info of the
  /// factorization, on the device. @param has_nan whether there is a NaN among so many elements.
  RoundTrip(Staging& staging, const TriangleView& host, const TriangleView& device, const int* info,
            int threads, HasNan has_nan);
  RoundTrip(const RoundTrip&) = delete;
  RoundTrip& operator=(const RoundTrip&) = delete;
  ~RoundTrip() override { staging_.wait(); }

  Status prepare() { return staging_.prepare(pieces_.size()); }
  Status need(int64_t columns) override;
  Status finished(int64_t columns) override;
  /// Waits until all columns have been returned, or all before the first bad pivot. NOT_SUPPORTED
  /// if a NaN has spread to columns before that pivot, which does not happen in a factorization by
  /// columns: columns not yet returned are unchanged.
  Status finish();

  /// Columns of the host's matrix that have been written.
  int64_t returned_columns() const { return returned_ == 0 ? 0 : pieces_[returned_ - 1].last; }
  int info() const { return bad_minor_; }

 private:
  static std::vector<TrianglePiece> pieces_of(const TriangleView& matrix);
  bool is_back() const { return bad_minor_ > 0 || returned_ == pieces_.size(); }
  Status send_next();
  Status take_back_next();
  Status unpack_next();
  bool is_spoilt(const TrianglePiece& piece, const char* rectangle, int64_t bad) const;
  Status advance();

  Staging& staging_;
  const TriangleView host_, device_;
  const int* const device_info_;
  const int threads_;
  const HasNan has_nan_;
  const std::vector<TrianglePiece> pieces_;
  // Pieces [0, count) of each state; each is at most the one before.
  size_t sent_ = 0;       ///< on their way to the device or there
  size_t awaited_ = 0;    ///< the compute stream waits for them
  size_t finished_ = 0;   ///< queued to be finished
  size_t requested_ = 0;  ///< on their transfer to the host or there
  size_t returned_ = 0;   ///< in the host's matrix
  int bad_minor_ = 0;
  int steps_ = 0;
};

}  // namespace chol::cuda
