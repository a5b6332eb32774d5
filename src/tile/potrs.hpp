// Solves with a factor over several devices, block by block. Both variants read a block column of
// the factor only at its owner. Either the owner of a solved block subtracts its products from the
// following blocks, in a local buffer that the next owner adds up; or the owner of the next block
// multiplies its column by all solved blocks, which every device has.
#pragma once

#include "tile/factor_columns.hpp"

namespace chol::tile {

/// Largest number of right-hand sides processed together.
inline constexpr int64_t kMostRightHandSides = 4096;

template <class T>
struct PotrsWorkspace {
  struct OfDevice {
    T* X = nullptr;         ///< n rows: solved blocks, and products to be summed
    T* incoming = nullptr;  ///< one block from each device
  };
  int64_t ld = 1, block_ld = 1, columns = 0;
  std::vector<OfDevice> devices;

  /// Allocates the memory of one more device.
  void carve(Arena& arena, const Distribution& over, int64_t nrhs) {
    constexpr int64_t kLine = 128 / sizeof(T) > 0 ? 128 / sizeof(T) : 1;
    const auto padded = [](int64_t n) {
      return (std::max<int64_t>(n, 1) + kLine - 1) / kLine * kLine;
    };
    ld = padded(over.n);
    block_ld = padded(std::min(over.nb, over.n));
    columns = std::min(nrhs, kMostRightHandSides);
    OfDevice mine;
    mine.X = arena.take<T>(static_cast<size_t>(ld * columns));
    mine.incoming = arena.take<T>(static_cast<size_t>(block_ld * columns * over.devices));
    devices.push_back(mine);
  }
};

/// The same for a factor in host memory.
template <class T>
struct StreamedPotrsWorkspace {
  PanelRing<T> ring;
  PotrsWorkspace<T> solve;

  /// Allocates the memory of one more device.
  void carve(Arena& arena, const Distribution& over, int64_t nrhs) {
    ring.carve(arena, over.n, std::min(over.nb, over.n), false);
    solve.carve(arena, over, nrhs);
  }
};

/// B := A^-1 B with the factor A. Waits between blocks of right-hand sides, but not for the last.
/// @param B on the host or any device.
template <class T>
void solve(const Devices<T>& devices, FactorColumns<T>& A, int64_t nrhs, T* B, int64_t ldb,
           PotrsWorkspace<T>& work);

}  // namespace chol::tile
