// Operations on tiles of one matrix in shared memory, used by the task graphs of src/tile/tasks.
// Each operation is a task: the calling thread executes it, and it is complete on return. The graph
// decides which tasks run concurrently. PanelOps has the same steps queued on one of several
// devices (backend/panel_ops.hpp), TileOps lists of small operations on low rank tiles
// (backend/tile_ops.hpp).
//
// Rows and columns are those of the lower triangle; an upper triangle is its transpose.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/arena.hpp"

namespace chol::backend {

/// Rows, columns or unknowns [first, last).
struct Range {
  int64_t first, last;

  int64_t size() const { return last - first; }
};

class TaskOps {
 public:
  /// Tiles begin at multiples of this number of rows and columns.
  virtual int64_t granularity() const = 0;
  /// Estimated time of one core for this number of operations, counted as if the elements were
  /// real. The number of threads of a graph depends on it.
  virtual double serial_ns(double flops) const = 0;

 protected:
  ~TaskOps() = default;
};

/// Operations of a factorization. A panel is a factored block column. Panels are also stored in the
/// packed layout of the updates, in slots: panels in consecutive slots are one operand.
class FactorOps : public TaskOps {
 public:
  /// Bytes of a slot for a panel of this number of columns.
  virtual size_t slot_bytes(int64_t columns) const = 0;
  /// The preferred number of factored columns of one update, if that number is ready.
  virtual int64_t update_depth() const = 0;
  /// Allocates the slots; a null arena counts.
  virtual void carve(Arena& arena, int64_t columns, int64_t slots) = 0;

  /// Factors an updated diagonal tile. Returns 0 or the failing column, counted from 1 at the first
  /// column of the tile.
  virtual int64_t potrf(Range tile, int64_t slot) = 0;
  /// Multiplies rows by inverse(L^H) of the factored columns of a diagonal tile.
  virtual void trsm(Range rows, Range columns, int64_t slot) = 0;
  /// Subtracts from a tile, on or below the diagonal, the product of its rows and its columns of
  /// the panels with columns `factored`.
  /// @param slot of the first of these panels.
  virtual void update(Range rows, Range columns, Range factored, int64_t slot) = 0;

 protected:
  ~FactorOps() = default;
};

enum class Substitution : uint8_t { forward, backward };

/// Right-hand sides that are solved together.
struct RhsGroup {
  int64_t number;
  Range columns;
};

/// Operations of a solve with a factor, by blocks of unknowns: forward substitution from the first
/// to the last, then backward substitution.
class SolveOps : public TaskOps {
 public:
  /// Groups begin at multiples of this number of right-hand sides.
  virtual int64_t rhs_granularity() const = 0;
  /// Whether the right-hand sides are overwritten in place, without load and store.
  virtual bool is_in_place() const = 0;
  /// Allocates the memory of the groups; a null arena counts.
  virtual void carve(Arena& arena, int64_t groups) = 0;

  virtual void load(const RhsGroup& group, Range unknowns) = 0;
  virtual void store(const RhsGroup& group, Range unknowns) = 0;
  /// Subtracts the products of solved blocks from a block of unknowns.
  virtual void update(Substitution sweep, const RhsGroup& group, Range unknowns, Range known) = 0;
  /// Solves for an updated block of unknowns.
  virtual void trsm(Substitution sweep, const RhsGroup& group, Range unknowns) = 0;

 protected:
  ~SolveOps() = default;
};

/// Operations of the inverse from a factor, in place, by steps of one block column: the diagonal
/// tile is packed, then all rows by ranges, then all tiles are updated.
class InverseOps : public TaskOps {
 public:
  /// Allocates the memory of a step; a null arena counts.
  virtual void carve(Arena& arena, int64_t columns) = 0;

  virtual void pack(Range block) = 0;
  /// Packs rows above, of or below the block. Rows above are divided by the block's factor; the
  /// block's own rows become the inverse of its factor.
  virtual void trsm(Range block, Range rows) = 0;
  /// Adds the product of packed rows and columns to a tile on or below the diagonal, or sets the
  /// tile to it. At most one of the two ranges is below the block.
  virtual void update(Range block, Range rows, Range columns) = 0;

 protected:
  ~InverseOps() = default;
};

}  // namespace chol::backend
