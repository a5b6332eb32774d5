// A small valid call of any routine in any form, for tests that break one argument.
#pragma once

#include <array>
#include <cstring>

#include "support/call.hpp"

namespace chol::test {

template <class T>
class ValidCall {
 public:
  static constexpr int64_t kN = 5, kRhs = 2, kBatch = 3;

  ValidCall(Function function, Layout layout) {
    for (int64_t b = 0; b < kBatch; ++b) {
      ns_.fill(kN);
      nrhss_.fill(kRhs);
      ldas_.fill(kN);
      ldbs_.fill(kN);
      As_[static_cast<size_t>(b)] = &A_[static_cast<size_t>(b * kN * kN)];
      Bs_[static_cast<size_t>(b)] = &B_[static_cast<size_t>(b * kN * kRhs)];
      for (int64_t i = 0; i < kN; ++i)
        A_[static_cast<size_t>(layout == Layout::interleaved ? (i * kN + i) * kBatch + b
                                                             : (b * kN + i) * kN + i)] = T(2);
    }
    info_.fill(-7);
    result_.fill(-7);
    call.function = function;
    call.layout = layout;
    call.n = kN;
    call.nrhs = kRhs;
    call.A = A_.data();
    call.As = As_.data();
    call.B = B_.data();
    call.Bs = Bs_.data();
    call.lda = call.ldb = kN;
    call.chunk = kBatch;
    call.strideA = kN * kN;
    call.strideB = kN * kRhs;
    call.ns = ns_.data();
    call.nrhss = nrhss_.data();
    call.ldas = ldas_.data();
    call.ldbs = ldbs_.data();
    call.info = info_.data();
    call.result = result_.data();
    call.anorm = 1;
    call.batch = layout == Layout::one ? 1 : kBatch;
  }
  ValidCall(const ValidCall&) = delete;
  ValidCall& operator=(const ValidCall&) = delete;

  /// Elements of the arrays of sizes and pointers, to be broken one at a time.
  int64_t& n(int64_t b) { return ns_[static_cast<size_t>(b)]; }
  int64_t& nrhs(int64_t b) { return nrhss_[static_cast<size_t>(b)]; }
  int64_t& lda(int64_t b) { return ldas_[static_cast<size_t>(b)]; }
  int64_t& ldb(int64_t b) { return ldbs_[static_cast<size_t>(b)]; }
  T*& A(int64_t b) { return As_[static_cast<size_t>(b)]; }
  T*& B(int64_t b) { return Bs_[static_cast<size_t>(b)]; }

  /// Whether every array that the routine could write is unchanged since construction.
  bool untouched() const {
    const ValidCall fresh(call.function, call.layout);
    const auto same = [](const auto& a, const auto& b) {
      return std::memcmp(a.data(), b.data(), sizeof a) == 0;
    };
    return same(A_, fresh.A_) && same(B_, fresh.B_) && same(info_, fresh.info_) &&
           same(result_, fresh.result_);
  }

  Call<T> call;

 private:
  std::array<T, kN * kN * kBatch> A_{};
  std::array<T, kN * kRhs * kBatch> B_{};
  std::array<T*, kBatch> As_{}, Bs_{};
  std::array<int64_t, kBatch> ns_{}, nrhss_{}, ldas_{}, ldbs_{};
  std::array<int, kBatch> info_{};
  std::array<RealOf<T>, kBatch> result_{};
};

}  // namespace chol::test
