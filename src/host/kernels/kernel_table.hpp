// Interface of the ISA-specific translation units: tables of plain functions, one per ISA and
// precision. Elements are passed as void so that no code of the standard library is instantiated
// under special -m flags.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chol::host {

inline constexpr int kMostLanes = 16;  ///< of any ISA and precision
/// Largest order that is processed across lanes.
inline constexpr int64_t kMostLaneOrder = 256;
/// Largest order of factor_small, whose strips are on the stack.
inline constexpr int64_t kMostSmallOrder = 32;
/// Largest number of right-hand sides that are solved in place together.
inline constexpr int64_t kMostVectors = 3;

/// Kernels::lanes matrices, one a lane: of one shape, or, for potrf, `mixed`: with orders up to n.
/// Unused lanes repeat another matrix.
struct LaneGroup {
  bool upper = false;
  int64_t n = 0;
  int64_t nrhs = 0;
  int64_t lda = 1;
  int64_t ldb = 1;
  void* A[kMostLanes];
  void* B[kMostLanes];
  bool mixed = false;
  int64_t order[kMostLanes], ld[kMostLanes];  ///< of each matrix when mixed
  int info[kMostLanes] = {};                  ///< not used by potri
  /// The next matrices of the same shape, which are prefetched, or nullptr.
  const void* next_A[kMostLanes];
};

/// Groups of Kernels::lanes interleaved matrices of one order, in place. Strides count elements.
struct InterleavedRun {
  bool upper = false;
  int64_t n = 0;
  int64_t nrhs = 0;
  void* A = nullptr;
  int64_t row_A = 0, column_A = 0;  ///< from an element to the next one of its column, its row
  int64_t next_A = 0;               ///< from a group to the next one
  void* B = nullptr;
  int64_t row_B = 0, column_B = 0, next_B = 0;
  int64_t groups = 0;
  int* info = nullptr;     ///< potrf, posv: lanes results a group
  int tile = 0;            ///< potrf: edge of a register tile, 2 .. 4, or 0: what suits the order
  bool fast_math = false;  ///< potrf, posv: approximate square roots
};

/// One matrix on one core, or a task of one matrix on several.
struct PanelMatrix {
  bool upper;
  int64_t n;
  void* A;
  int64_t lda;
  /// The next matrix of this core, which is prefetched, or nullptr.
  const PanelMatrix* next = nullptr;
};

/// Factored columns of a matrix in the form that register tiles read: strips of `width` rows, in a
/// strip the columns one after the other. Row i counts from the matrix's first row.
struct PanelStrips {
  void* base;
  int64_t depth;     ///< columns that a strip has room for
  void* reciprocal;  ///< depth reals: 1 / diagonal of the block's factor
};

struct Kernels {
  const char* isa;

  int lanes;  ///< matrices of a LaneGroup

  /// Bytes of buffer that the lane functions need for order n and nrhs right-hand sides.
  size_t (*lane_buffer_bytes)(int64_t n, int64_t nrhs);
  void (*lane_potrf)(LaneGroup& group, void* buffer);
  void (*lane_potrs)(LaneGroup& group, void* buffer);
  void (*lane_posv)(LaneGroup& group, void* buffer);
  void (*lane_potri)(LaneGroup& group, void* buffer);

  /// Bytes of buffer for interleaved matrices of order n; potri takes lane_buffer_bytes(n, 0).
  size_t (*interleaved_buffer_bytes)(int64_t n);
  void (*interleaved_potrf)(const InterleavedRun& run, void* buffer);
  void (*interleaved_potrs)(const InterleavedRun& run, void* buffer);
  void (*interleaved_posv)(const InterleavedRun& run, void* buffer);
  void (*interleaved_potri)(const InterleavedRun& run, void* buffer);

  int strip_rows;   ///< strips start at multiples of this number of rows
  int strip_width;  ///< rows of a strip, whose columns lie that many elements apart
  /// Elements of strips for rows of a matrix and depth columns.
  int64_t (*strip_elements)(int64_t rows, int64_t depth);

  /// Cholesky factor of one matrix of order 1 .. kMostSmallOrder, without workspace. Returns info.
  int (*factor_small)(bool upper, int64_t n, void* A, int64_t lda);

  /// Cholesky factor of the block [first, last) of rows and columns, whose updates from columns
  /// before `first` are done. Writes the matrix and the strips. Returns 0 or the failing column,
  /// counted from 1 at `first`.
  int64_t (*factor_block)(const PanelMatrix& M, int64_t first, int64_t last,
                          const PanelStrips& strips);
  /// Rows [row, row_end) times inverse(L^H) of the factored block [first, first + columns); `row`
  /// is a multiple of strip_rows.
  void (*solve_rows)(const PanelMatrix& M, int64_t first, int64_t columns, int64_t row,
                     int64_t row_end, const PanelStrips& strips);
  /// Tile of rows [row, row_end) and columns [column, column_end), on or below the diagonal, minus
  /// the product of its rows and columns in the strips (depth columns).
  void (*update_tile)(const PanelMatrix& M, int64_t row, int64_t row_end, int64_t column,
                      int64_t column_end, int64_t depth, const PanelStrips& strips);

  /// x := inverse(A) x for one right-hand side, in place. Dot products are sums over segments of so
  /// many unknowns, a multiple of 8; 0: over all.
  void (*solve_vector)(const PanelMatrix& M, int64_t segment, void* x);
  /// The same in parts, for several threads: unknowns [row, row_end) take the known unknowns
  /// [first, last) of a forward or backward substitution; or become known themselves where they are
  /// the same. Each is a segment, and takes the others in the order in which they become known.
  void (*substitute_vector)(const PanelMatrix& M, bool backward, int64_t first, int64_t last,
                            int64_t row, int64_t row_end, void* x);
  /// B := inverse(A) B for 1 .. kMostVectors right-hand sides, in place as solve_vector does
  /// without segments; the factor is read once for all.
  void (*solve_vectors)(const PanelMatrix& M, int64_t nrhs, void* B, int64_t ldb);
  /// Bytes of buffer that the panel solves need.
  size_t (*solve_buffer_bytes)(int64_t n, int64_t nrhs);
  /// B := inverse(A) B with the factor in M; columns [column, column_end) of B.
  void (*solve)(const PanelMatrix& M, void* B, int64_t ldb, int64_t column, int64_t column_end,
                void* buffer);
  /// The same in parts, for several threads. Unknowns [row, row_end) of right-hand sides [column,
  /// column_end) into a buffer of solve_buffer_bytes, and back;
  void (*load_rhs)(const PanelMatrix& M, void* B, int64_t ldb, int64_t column, int64_t column_end,
                   int64_t row, int64_t row_end, void* buffer);
  void (*store_rhs)(const PanelMatrix& M, void* B, int64_t ldb, int64_t column, int64_t column_end,
                    int64_t row, int64_t row_end, void* buffer);
  /// unknowns [row, row_end) of a buffer's nrhs right-hand sides take the known unknowns [first,
  /// last) of a forward or backward substitution; or become known themselves where they are the
  /// same. Bounds are multiples of strip_rows, or n.
  void (*substitute)(const PanelMatrix& M, bool backward, int64_t nrhs, int64_t first, int64_t last,
                     int64_t row, int64_t row_end, void* buffer);

  /// The inverse of A from its factor, in place, a step a block [first, last) of columns, whose
  /// `first` is a multiple of strip_rows (kernels/within/potri.hpp). First the block's own strips,
  /// rows counted from its first, and its reciprocals,
  void (*pack_factor)(const PanelMatrix& M, int64_t first, int64_t last, const PanelStrips& factor);
  /// then strips for the rows of the matrix, each range above, of or below the block,
  void (*invert_rows)(const PanelMatrix& M, int64_t first, int64_t last, int64_t row,
                      int64_t row_end, const PanelStrips& factor, const PanelStrips& strips);
  /// then the tiles of such ranges, on or below the diagonal, except those entirely below the
  /// block.
  void (*invert_tile)(const PanelMatrix& M, int64_t first, int64_t last, int64_t row,
                      int64_t row_end, int64_t column, int64_t column_end,
                      const PanelStrips& strips);
};

}  // namespace chol::host
