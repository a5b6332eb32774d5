// The elements of a batch of matrices in one block of memory with known bits: memory outside the
// matrices is filled with distinct NaNs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "support/dense.hpp"
#include "support/memory.hpp"

namespace chol::test {

template <class T>
T poison(int64_t position) {
  using R = RealOf<T>;
  const auto nan = [&](int64_t payload) {
    R value;
    if constexpr (sizeof(R) == 4) {
      const uint32_t bits = 0x7fc00000u | (static_cast<uint32_t>(payload) & 0x3fffffu);
      std::memcpy(&value, &bits, sizeof value);
    } else {
      const uint64_t bits = 0x7ff8000000000000u | (static_cast<uint64_t>(payload) & 0xffffffffu);
      std::memcpy(&value, &bits, sizeof value);
    }
    return value;
  };
  if constexpr (is_complex<T>)
    return T(nan(2 * position + 1), nan(2 * position + 2));
  else
    return nan(position + 1);
}

/// Without a call of memcmp for every element.
template <class T>
bool same_bits(const T& a, const T& b) {
  if constexpr (is_complex<T>) {
    return same_bits(a.real(), b.real()) && same_bits(a.imag(), b.imag());
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
  }
}

/// A matrix of the batch: element (i, j) at offset + (i + j * ld) * step.
struct Slot {
  int64_t rows, columns, ld, offset;
  int64_t step = 1;  ///< the chunk of an interleaved batch
  int64_t at(int64_t i, int64_t j) const { return offset + (i + j * ld) * step; }
  /// From the first element to the last: without the padding after the last column, since the
  /// caller's memory may end there.
  static int64_t extent(int64_t rows, int64_t columns, int64_t ld) {
    return rows > 0 && columns > 0 ? (columns - 1) * ld + rows : 0;
  }
};

template <class T>
class Field {
 public:
  Field(Memory& memory, std::vector<Slot> slots, int64_t elements, Edge edge)
      : slots_(std::move(slots)),
        image_(static_cast<size_t>(elements)),
        block_(memory, image_.size() * sizeof(T), edge) {
    for (size_t k = 0; k < image_.size(); ++k) image_[k] = poison<T>(static_cast<int64_t>(k));
  }

  const Slot& slot(int64_t b) const { return slots_[static_cast<size_t>(b)]; }
  T& at(int64_t b, int64_t i, int64_t j) { return image_[static_cast<size_t>(slot(b).at(i, j))]; }
  const T& at(int64_t b, int64_t i, int64_t j) const {
    return image_[static_cast<size_t>(slot(b).at(i, j))];
  }
  T* address(int64_t b) const { return block_.template as<T>() + slot(b).offset; }

  void upload() {
    before_ = image_;
    block_.upload(image_.data());
  }
  void download() { block_.download(image_.data()); }

  /// Every element except those for which may_write(b, i, j) has its initial bits.
  template <class MayWrite>
  testing::AssertionResult kept(const char* name, MayWrite&& may_write) const {
    std::vector<char> writable(image_.size(), false);
    for (size_t b = 0; b < slots_.size(); ++b)
      for (int64_t j = 0; j < slots_[b].columns; ++j)
        for (int64_t i = 0; i < slots_[b].rows; ++i)
          if (may_write(static_cast<int64_t>(b), i, j))
            writable[static_cast<size_t>(slots_[b].at(i, j))] = true;
    for (size_t k = 0; k < image_.size(); ++k)
      if (!writable[k] && !same_bits(image_[k], before_[k]))
        return testing::AssertionFailure() << describe(name, static_cast<int64_t>(k));
    return testing::AssertionSuccess();
  }

 private:
  std::string describe(const char* name, int64_t position) const {
    for (size_t b = 0; b < slots_.size(); ++b) {
      const Slot& s = slots_[b];
      const int64_t from = (position - s.offset) / s.step;
      if (position < s.offset || (position - s.offset) % s.step != 0 ||
          from >= Slot::extent(s.rows, s.columns, s.ld))
        continue;
      return std::string(name) + ": element (" + std::to_string(from % s.ld) + ", " +
             std::to_string(from / s.ld) + ") of matrix " + std::to_string(b) +
             " was changed and must keep every bit";
    }
    return std::string(name) + ": memory outside of every matrix was changed, at element " +
           std::to_string(position);
  }

  std::vector<Slot> slots_;
  std::vector<T> image_, before_;
  Block block_;
};

}  // namespace chol::test
