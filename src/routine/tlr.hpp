// A tile low rank matrix of a handle, of any type, and calls on it.
#pragma once

#include <complex>
#include <memory>
#include <variant>

#include "backend/tile_ops.hpp"
#include "routine/handle.hpp"
#include "tlr/matrix.hpp"

namespace chol::routine {

class TlrMatrix {
 public:
  static constexpr uint64_t kMagic = 0x544c524c4f484354;
  ~TlrMatrix() { magic = 0; }

  template <class T>
  using Pointer = std::unique_ptr<tlr::Matrix<T>>;
  using AnyMatrix = std::variant<Pointer<float>, Pointer<double>, Pointer<std::complex<float>>,
                                 Pointer<std::complex<double>>>;

  uint64_t magic = kMagic;
  Handle* handle = nullptr;
  AnyMatrix matrix;

  /// visit(matrix) for the matrix in its type.
  template <class Visit>
  decltype(auto) apply(Visit&& visit) const {
    return std::visit([&](const auto& pointer) -> decltype(auto) { return visit(*pointer); },
                      matrix);
  }
};

/// Tile operations of a handle: those of its device if it has one.
template <class T>
std::unique_ptr<backend::TileOps<T>> tile_ops(Handle& handle);

}  // namespace chol::routine
