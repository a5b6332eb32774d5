// Tiles of a block column k of the factor before its triangular solve: A_ik minus the sum over the
// columns j before k of L_ij L_kj^H, accessed through products. With L_ij = U_ij V_ij^H a term is
// U_ij (G_ijk U_kj^H); G_ijk = V_ij^H V_kj is formed once for all products of the tile. For L D
// L^H, the tiles of row k are those of L D.
#pragma once

#include <vector>

#include "tlr/compress.hpp"
#include "tlr/right_tiles.hpp"
#include "tlr/widths.hpp"

namespace chol::tlr {

template <class T>
class SchurTiles final : public Operators<T> {
 public:
  /// @param widths of the columns before k
  /// @param right tiles of row k
  /// @param samples_columns whether operations with cores have the finished columns; they then
  /// sample a whole block column
  /// @param rows rows of block column k, in ascending order
  SchurTiles(backend::TileOps<T>& ops, const Matrix<T>& M, const Samples<T>& samples,
             const Widths& widths, int64_t k, const RightTiles<T>& right, bool samples_columns,
             std::vector<int64_t> rows);
  /// Sets the number of finished columns before k: sample_all() and expand() omit the others.
  void set_finished(int64_t columns) { finished_ = columns; }

  int64_t count() const override { return static_cast<int64_t>(rows_.size()); }
  int64_t rows(int64_t i) const override { return M_.rows(rows_[i].index); }
  int64_t columns(int64_t) const override { return M_.rows(k_); }
  void prepare(int64_t most_columns) override;
  const Samples<T>& samples() const override { return samples_; }
  void sample(int64_t i, int64_t from, int64_t to, T* Y, backend::ProductSteps<T>& steps) override;
  void project(int64_t i, const T* Q, int64_t ldq, int64_t columns, T* B,
               backend::ProductSteps<T>& steps) override;
  double sample_all(const std::vector<typename Operators<T>::Wanted>& list) override;
  double sample_rest(const std::vector<typename Operators<T>::Wanted>& list) override;
  void expand(int64_t i, T* D, backend::ProductSteps<T>& steps) override;
  /// Adds the terms that expand() omitted.
  void expand_rest(int64_t i, T* D, backend::ProductSteps<T>& steps);

 private:
  struct Row {
    int64_t index;
    /// Offset of G_ijk in cores, or -1 if L_ij or L_kj is dense.
    std::vector<int64_t> core;
    Buffer<T> cores;                      ///< G_ijk for the columns below
    Buffer<T> of_samples, of_projection;  ///< intermediate products of sample() and project()
    int64_t from = 0, to = 0;             ///< columns with cores
  };
  /// Whether column j contributes a term.
  bool has_term(int64_t i, int64_t j) const { return M_.width(i, j) > 0 && M_.width(k_, j) > 0; }
  void add_cores(Row& row, int64_t from, int64_t to, backend::ProductSteps<T>& steps);
  /// Adds terms to the last group of the last step.
  void add_terms(Row& row, int64_t from, int64_t to, T* D, backend::ProductSteps<T>& steps);
  double sample_terms(const std::vector<typename Operators<T>::Wanted>& list, int64_t from,
                      int64_t to);
  /// Z (width(i, j) by n) := V_ij^H V_kj X for X = op(X) of width(k, j) rows; X itself if both are
  /// the identity.
  const T* core_times(const Row& row, int64_t j, const T* X, int64_t ldx, bool adjoint_x, int64_t n,
                      T* Z, int64_t* ldz, backend::ProductSteps<T>& steps) const;
  int64_t sum_of_widths(int64_t i) const { return widths_.sum(i, 0, k_); }
  /// Tile (k, j) of L D or L; for a dense tile V is D or the identity.
  backend::LowRank<T> low_rank(int64_t j);

  backend::TileOps<T>& ops_;
  const Matrix<T>& M_;
  const Samples<T>& samples_;
  const Widths& widths_;
  int64_t k_, finished_;
  const RightTiles<T>& right_;
  bool samples_columns_;
  std::vector<Row> rows_;
  Buffer<T> identity_;            ///< V of dense tiles
  std::vector<Buffer<T>> signs_;  ///< the same with the signs of D
  std::vector<Buffer<T>> X_;      ///< U_kj^H times the samples, for all j
  int64_t prepared_ = 0;          ///< number of columns of X
};

}  // namespace chol::tlr
