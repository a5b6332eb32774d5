// The operations on tiles of one matrix (backend/task_ops.hpp) by the kernels of an instruction
// set, which read panels and right-hand sides packed in strips.
#pragma once

#include "backend/task_ops.hpp"
#include "host/blas/blas.hpp"
#include "host/kernels/kernel_table.hpp"

namespace chol::host {

/// A matrix and the kernels of its precision. Elements are not needed to compute a workspace size.
struct KernelsOn {
  const Kernels& kernels;
  size_t element_bytes, real_bytes;
  PanelMatrix matrix;

  double serial_ns(double flops) const;
};

class KernelFactorOps final : public backend::FactorOps {
 public:
  /// @param product of the BLAS for the updates; nullptr selects the kernels
  KernelFactorOps(const KernelsOn& on, TileProduct product) : on_(on), product_(product) {}

  int64_t granularity() const override { return on_.kernels.strip_rows; }
  double serial_ns(double flops) const override { return on_.serial_ns(flops); }
  size_t slot_bytes(int64_t columns) const override;
  int64_t update_depth() const override;
  void carve(Arena& arena, int64_t columns, int64_t slots) override;
  int64_t potrf(backend::Range tile, int64_t slot) override;
  void trsm(backend::Range rows, backend::Range columns, int64_t slot) override;
  void update(backend::Range rows, backend::Range columns, backend::Range factored,
              int64_t slot) override;

 private:
  PanelStrips strips(int64_t slot) const;

  KernelsOn on_;
  TileProduct product_;
  int64_t columns_ = 0, slots_ = 0;
  char* strips_ = nullptr;
  char* reciprocal_ = nullptr;
};

/// Right-hand sides in strips.
class KernelSolveOps final : public backend::SolveOps {
 public:
  KernelSolveOps(const KernelsOn& on, int64_t nrhs, void* B, int64_t ldb)
      : on_(on), nrhs_(nrhs), B_(B), ldb_(ldb) {}

  int64_t granularity() const override;
  double serial_ns(double flops) const override { return on_.serial_ns(flops); }
  int64_t rhs_granularity() const override { return on_.kernels.strip_width; }
  bool is_in_place() const override { return false; }
  void carve(Arena& arena, int64_t groups) override;
  void load(const backend::RhsGroup& group, backend::Range unknowns) override;
  void store(const backend::RhsGroup& group, backend::Range unknowns) override;
  void update(backend::Substitution sweep, const backend::RhsGroup& group, backend::Range unknowns,
              backend::Range known) override;
  void trsm(backend::Substitution sweep, const backend::RhsGroup& group,
            backend::Range unknowns) override {
    update(sweep, group, unknowns, unknowns);
  }

 private:
  /// Offset of a group's buffer, from its number and first right-hand side.
  size_t offset(int64_t group, int64_t column) const;
  void* buffer(const backend::RhsGroup& group) const {
    return buffers_ + offset(group.number, group.columns.first);
  }

  KernelsOn on_;
  int64_t nrhs_;
  void* B_;
  int64_t ldb_;
  char* buffers_ = nullptr;
};

/// One right-hand side in place: limited by the memory bandwidth of all cores, not by arithmetic.
class KernelVectorOps final : public backend::SolveOps {
 public:
  /// @param segment unknowns of a block, a multiple of the vector length of any kernel.
  KernelVectorOps(const KernelsOn& on, int64_t segment, void* x)
      : on_(on), segment_(segment), x_(x) {}

  int64_t granularity() const override { return segment_; }
  double serial_ns(double flops) const override;
  int64_t rhs_granularity() const override { return 1; }
  bool is_in_place() const override { return true; }
  void carve(Arena&, int64_t) override {}
  void load(const backend::RhsGroup&, backend::Range) override {}
  void store(const backend::RhsGroup&, backend::Range) override {}
  void update(backend::Substitution sweep, const backend::RhsGroup&, backend::Range unknowns,
              backend::Range known) override;
  void trsm(backend::Substitution sweep, const backend::RhsGroup& group,
            backend::Range unknowns) override {
    update(sweep, group, unknowns, unknowns);
  }

 private:
  KernelsOn on_;
  int64_t segment_;
  void* x_;
};

class KernelInverseOps final : public backend::InverseOps {
 public:
  explicit KernelInverseOps(const KernelsOn& on) : on_(on) {}

  int64_t granularity() const override { return on_.kernels.strip_rows; }
  double serial_ns(double flops) const override { return on_.serial_ns(flops); }
  void carve(Arena& arena, int64_t columns) override;
  void pack(backend::Range block) override;
  void trsm(backend::Range block, backend::Range rows) override;
  void update(backend::Range block, backend::Range rows, backend::Range columns) override;

 private:
  KernelsOn on_;
  PanelStrips factor_{}, strips_{};
};

}  // namespace chol::host
