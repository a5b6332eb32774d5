// The arrays of one call in one of the layouts, with checks of all surrounding memory. A test fills
// the matrices, runs a routine and reads the results; the setting of the test determines the C
// function and the memory of the arrays.
#pragma once

#include <limits>

#include "base/precisions.h"
#include "support/call.hpp"
#include "support/field.hpp"

namespace chol::test {

struct Shape {
  int64_t n = 0;
  int64_t lda = 1;
  int64_t nrhs = 0;
  int64_t ldb = 1;
};

/// Layout of the matrices in their memory block.
struct Placement {
  int64_t offset = 0;  ///< elements before the first one, so that it is misaligned
  int64_t gap = 0;     ///< elements between two of them
  Edge edge = Edge::end;
  int64_t chunk = 8;  ///< matrices of a chunk in the interleaved layout
};

/// Invalid arguments of a matrix of a variable batch, whose size and pointer are read on a device.
enum class Fault { none, order, leading_dimension, pointer };

template <class T>
class Arrays {
 public:
  using R = RealOf<T>;

  Arrays(Memory& memory, Layout layout, std::vector<Shape> shapes, Placement placement = {})
      : memory_(memory),
        layout_(layout),
        shapes_(std::move(shapes)),
        placement_(placement),
        A_(make_field(false)),
        B_(make_field(true)) {}

  int64_t batch() const { return static_cast<int64_t>(shapes_.size()); }
  const Shape& shape(int64_t b) const { return shapes_[static_cast<size_t>(b)]; }
  Field<T>& A() { return A_; }
  Field<T>& B() { return B_; }

  /// Whether the variable form is given max_n and max_nrhs.
  bool bounds_known = true;
  /// Of the first matrices of a variable batch.
  std::vector<Fault> faults;
  /// norm1(A) for pocon, of every matrix.
  R anorm = 0;

  /// Stores the lower triangle of M in the named triangle, conjugate transposed for the upper one,
  /// for a Hermitian matrix as well as for a factor.
  void set_triangle(int64_t b, chol_uplo_t uplo, const Dense<T>& M) {
    const bool upper = uplo == CHOL_UPPER;
    for_each_in_triangle(shape(b).n, upper, [&](int64_t i, int64_t j) {
      A_.at(b, i, j) = upper ? conjugate(M(j, i)) : M(i, j);
    });
  }
  /// The imaginary parts of the diagonal are taken as zero.
  void spoil_diagonal(int64_t b) {
    if constexpr (is_complex<T>)
      for (int64_t i = 0; i < shape(b).n; ++i)
        A_.at(b, i, i).imag(std::numeric_limits<R>::quiet_NaN());
  }
  void set_rhs(int64_t b, const Dense<T>& B) {
    for (int64_t c = 0; c < B.columns; ++c)
      for (int64_t i = 0; i < B.rows; ++i) B_.at(b, i, c) = B(i, c);
  }

  /// The named triangle as a lower one, zeros above the diagonal.
  Dense<T> lower(int64_t b, chol_uplo_t uplo) const {
    const int64_t n = shape(b).n;
    const bool upper = uplo == CHOL_UPPER;
    Dense<T> L(n, n);
    for_each_in_triangle(n, false, [&](int64_t i, int64_t j) {
      L(i, j) = upper ? conjugate(A_.at(b, j, i)) : A_.at(b, i, j);
    });
    return L;
  }
  Dense<T> hermitian(int64_t b, chol_uplo_t uplo) const {
    Dense<T> H = lower(b, uplo);
    for_each_in_triangle(H.rows, false,
                         [&](int64_t i, int64_t j) { H(j, i) = conjugate(H(i, j)); });
    return H;
  }
  Dense<T> rhs(int64_t b) const {
    Dense<T> X(shape(b).n, shape(b).nrhs);
    for (int64_t c = 0; c < X.columns; ++c)
      for (int64_t i = 0; i < X.rows; ++i) X(i, c) = B_.at(b, i, c);
    return X;
  }
  int info(int64_t b) const { return info_[static_cast<size_t>(b)]; }
  R result(int64_t b) const { return result_[static_cast<size_t>(b)]; }

  /// Uploads, calls the routine and downloads; the one-matrix form is called for each matrix.
  chol_status_t run(chol_handle_t handle, Function function, chol_uplo_t uplo) {
    function_ = function;
    uplo_ = uplo;
    A_.upload();
    B_.upload();
    info_.assign(shapes_.size(), kUnwritten);
    result_.assign(shapes_.size(), poison<R>(0));
    Block info(memory_, info_.size() * sizeof(int), placement_.edge);
    Block result(memory_, result_.size() * sizeof(R), placement_.edge);
    info.upload(info_.data());
    result.upload(result_.data());
    Call<T> call;
    call.function = function;
    call.layout = layout_;
    call.uplo = uplo;
    call.anorm = anorm;
    call.info = info.as<int>();
    call.result = result.as<R>();
    const chol_status_t status = run_layout(handle, call);
    A_.download();
    B_.download();
    info.download(info_.data());
    result.download(result_.data());
    return status;
  }

  /// Only the output of the last routine has changed: its named triangles, and B if there is a
  /// solution.
  testing::AssertionResult rest_kept() const {
    const bool upper = uplo_ == CHOL_UPPER, writes_A = writes_matrix(function_);
    const testing::AssertionResult a = A_.kept("A", [&](int64_t b, int64_t i, int64_t j) {
      return writes_A && (upper ? i <= j : i >= j) &&
             !(function_ == Function::potri ? info(b) != 0 : info(b) < 0);
    });
    if (!a) return a;
    return B_.kept("B", [&](int64_t b, int64_t, int64_t) {
      return function_ == Function::potrs || (function_ == Function::posv && info(b) == 0);
    });
  }

  /// Values of info and results before a call.
  static constexpr int kUnwritten = -77;

 private:
  Field<T> make_field(bool rhs) const {
    const auto count = static_cast<int64_t>(shapes_.size());
    std::vector<Slot> slots;
    for (const Shape& s : shapes_)
      slots.push_back(rhs ? Slot{s.n, s.nrhs, s.ldb, 0} : Slot{s.n, s.n, s.lda, 0});
    if (layout_ == Layout::interleaved) return make_interleaved(std::move(slots));
    // Pointers lead to matrices in descending order of address, strides in ascending order.
    int64_t position = placement_.offset;
    for (int64_t k = 0; k < count; ++k) {
      Slot& s = slots[static_cast<size_t>(layout_ == Layout::strided ? k : count - 1 - k)];
      s.offset = position;
      const bool last = k == count - 1;
      position += layout_ == Layout::strided && !last ? s.ld * s.columns
                                                      : Slot::extent(s.rows, s.columns, s.ld);
      // With a gap the memory after the last matrix is checked, without one accesses trap.
      position += placement_.gap;
    }
    return Field<T>(memory_, std::move(slots), position, placement_.edge);
  }

  /// Chunks of few large matrices: elements of a chunk outside the batch are checked one by one.
  int64_t chunk() const {
    constexpr int64_t kLarge = 130;
    const bool large = !shapes_.empty() && shapes_[0].n > kLarge;
    return large ? std::min<int64_t>(placement_.chunk, 2) : placement_.chunk;
  }
  /// The last chunk is full, and its elements outside the batch are checked.
  Field<T> make_interleaved(std::vector<Slot> slots) const {
    const auto count = static_cast<int64_t>(slots.size());
    const int64_t side_by_side = chunk(), chunks = (count + side_by_side - 1) / side_by_side;
    const int64_t matrix = count > 0 ? slots[0].ld * slots[0].columns : 0;
    for (int64_t b = 0; b < count; ++b) {
      Slot& s = slots[static_cast<size_t>(b)];
      s.offset = placement_.offset + b / side_by_side * matrix * side_by_side + b % side_by_side;
      s.step = side_by_side;
    }
    const int64_t elements = placement_.offset + chunks * matrix * side_by_side + placement_.gap;
    return Field<T>(memory_, std::move(slots), elements, placement_.edge);
  }

  chol_status_t run_layout(chol_handle_t handle, Call<T>& call) {
    switch (layout_) {
      case Layout::one:
        return run_one(handle, call);
      case Layout::strided:
        set_uniform(call);
        if (batch() == 0) return invoke(handle, call);
        call.A = A_.address(0);
        call.strideA = call.lda * call.n + placement_.gap;
        call.B = B_.address(0);
        call.strideB = call.ldb * call.nrhs + placement_.gap;
        return invoke(handle, call);
      case Layout::interleaved:
        set_uniform(call);
        call.chunk = chunk();
        if (batch() == 0) return invoke(handle, call);
        call.A = A_.address(0);
        call.B = B_.address(0);
        return invoke(handle, call);
      case Layout::batched:
      case Layout::variable:
        return run_pointers(handle, call);
    }
    return CHOL_STATUS_INTERNAL;
  }

  chol_status_t run_one(chol_handle_t handle, Call<T> call) {
    for (int64_t b = 0; b < batch(); ++b) {
      Call<T> one = call;
      one.n = shape(b).n;
      one.nrhs = shape(b).nrhs;
      one.lda = shape(b).lda;
      one.ldb = shape(b).ldb;
      one.A = A_.address(b);
      one.B = B_.address(b);
      one.info = call.info + b;
      one.result = call.result + b;
      const chol_status_t status = invoke(handle, one);
      if (status != CHOL_STATUS_SUCCESS) return status;
    }
    return CHOL_STATUS_SUCCESS;
  }

  void set_uniform(Call<T>& call) const {
    call.batch = batch();
    const Shape s = shapes_.empty() ? Shape{} : shapes_[0];
    call.n = s.n;
    call.nrhs = s.nrhs;
    call.lda = s.lda;
    call.ldb = s.ldb;
  }

  /// An array of the call's sizes or pointers, in the memory where the matrices are.
  template <class E, class Get>
  Block array_of(Get&& get) const {
    std::vector<E> values;
    for (int64_t b = 0; b < batch(); ++b) values.push_back(get(b));
    return Block(memory_, values, placement_.edge);
  }

  bool has_fault(int64_t b, Fault fault) const {
    return b < static_cast<int64_t>(faults.size()) && faults[static_cast<size_t>(b)] == fault;
  }

  chol_status_t run_pointers(chol_handle_t handle, Call<T>& call) {
    const Block As = array_of<T*>(
        [&](int64_t b) { return has_fault(b, Fault::pointer) ? nullptr : A_.address(b); });
    const Block Bs = array_of<T*>([&](int64_t b) { return B_.address(b); });
    const Block ns =
        array_of<int64_t>([&](int64_t b) { return has_fault(b, Fault::order) ? -2 : shape(b).n; });
    const Block nrhss = array_of<int64_t>([&](int64_t b) { return shape(b).nrhs; });
    const Block ldas = array_of<int64_t>([&](int64_t b) {
      return has_fault(b, Fault::leading_dimension) ? shape(b).n - 1 : shape(b).lda;
    });
    const Block ldbs = array_of<int64_t>([&](int64_t b) { return shape(b).ldb; });
    set_uniform(call);
    call.As = As.as<T*>();
    call.Bs = Bs.as<T*>();
    if (layout_ == Layout::variable) {
      call.n = call.nrhs = 0;
      for (const Shape& s : shapes_) {
        if (bounds_known) call.n = std::max(call.n, s.n);
        if (bounds_known) call.nrhs = std::max(call.nrhs, s.nrhs);
      }
      call.ns = ns.as<int64_t>();
      call.nrhss = nrhss.as<int64_t>();
      call.ldas = ldas.as<int64_t>();
      call.ldbs = ldbs.as<int64_t>();
    }
    return invoke(handle, call);
  }

  Memory& memory_;
  Layout layout_;
  std::vector<Shape> shapes_;
  Placement placement_;
  Field<T> A_, B_;
  Function function_ = Function::potrf;
  chol_uplo_t uplo_ = CHOL_LOWER;
  std::vector<int> info_;
  std::vector<R> result_;
};

// Compiled once, with optimization (arrays.cpp).
#define CHOL_DECLARE_ARRAYS(p, T, R) \
  extern template class Field<T>;    \
  extern template class Arrays<T>;
CHOL_FOR_EACH_PRECISION(CHOL_DECLARE_ARRAYS)
#undef CHOL_DECLARE_ARRAYS

}  // namespace chol::test
