// A tile low rank matrix of a handle, whatever its type, and calls on it.
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
  bool on_host = false;  ///< of a handle that has a device, too
  AnyMatrix matrix;

  /// visit(matrix) for the matrix in its type.
  template <class Visit>
  decltype(auto) apply(Visit&& visit) const {
    return std::visit([&](const auto& pointer) -> decltype(auto) { return visit(*pointer); },
                      matrix);
  }
};

/// The operations on matrices of a handle: those of its device where it has one, unless the host's
/// are asked for and there.
template <class T>
std::unique_ptr<backend::TileOps<T>> tile_ops(Handle& handle, bool on_host);

/// Whether L D L^H and pivoted factors of a handle are for its host, since its device cannot work
/// on them.
template <class T>
bool pivots_on_host(Handle& handle);
/// Moves a matrix from the device of its handle to the host.
void move_to_host(TlrMatrix& A);
/// Moves one of two matrices of a handle to the host where the other one lies there.
void bring_together(TlrMatrix& A, TlrMatrix& B);

}  // namespace chol::routine
