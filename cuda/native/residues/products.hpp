// Products of residues on the integer tensor cores, beside what the caller's stream does.
#pragma once

#include <cublas_v2.h>

#include "native/blas.hpp"
#include "native/residues/call.hpp"

namespace chol::cuda::residues {

/// What a factorization with residues keeps from call to call: a stream for products, events, and
/// pinned memory that tells how far the device is. Made at the first call that needs it.
class ProductQueue {
 public:
  ProductQueue() = default;
  ~ProductQueue();
  ProductQueue(const ProductQueue&) = delete;
  ProductQueue& operator=(const ProductQueue&) = delete;

  Status prepare();
  cudaStream_t stream() const { return stream_; }

  /// Sums of the products of rows of A with rows of B over `depth` bytes: sums(i, j), i along
  /// sums.ld, of rows_a by rows_b, for each modulus.
  /// @param added whether they are added to what is there
  Status multiply(const Planes& A, int64_t rows_a, const Planes& B, int64_t rows_b, int64_t depth,
                  int count, bool added, const Sums& sums);

  /// What the device has said of a panel.
  struct Report {
    int flagged, info;
  };
  enum Event { kQuantized, kUpdated, kMultiplied, kEvents };
  /// Two of each kind, for panels in turn.
  cudaEvent_t event(Event kind, int panel) const { return events_[kind][panel & 1]; }
  volatile Report& report(int panel) const { return reports_[panel & 1]; }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t events_[kEvents][2] = {};
  Report* reports_ = nullptr;
  Blas blas_;
  bool is_ready_ = false;
};

}  // namespace chol::cuda::residues
