// Fills the function table of one ISA and precision. Included by the thin file of each ISA,
// compiled once a precision.
#pragma once

#include "host/kernels/across/interleaved.hpp"
#include "host/kernels/within/few_vectors.hpp"
#include "host/kernels/within/potri.hpp"
#include "host/kernels/within/small_potrf.hpp"

namespace chol::CHOL_ISA {

template <class T>
int64_t factor_block(const host::PanelMatrix& M, int64_t first, int64_t last,
                     const host::PanelStrips& strips) {
  T* base = static_cast<T*>(M.A);
  if (M.upper)
    return Panel<T, ByRows<T>>{{base, M.lda}, Strips<T>(strips), first}.factor(last, last, M.next);
  return Panel<T, ByColumns<T>>{{base, M.lda}, Strips<T>(strips), first}.factor(last, last, M.next);
}

template <class T>
void solve_rows(const host::PanelMatrix& M, int64_t first, int64_t columns, int64_t row,
                int64_t row_end, const host::PanelStrips& strips) {
  T* base = static_cast<T*>(M.A);
  if (M.upper)
    Panel<T, ByRows<T>>{{base, M.lda}, Strips<T>(strips), first}.solve_rows(columns, row, row_end);
  else
    Panel<T, ByColumns<T>>{{base, M.lda}, Strips<T>(strips), first}.solve_rows(columns, row,
                                                                               row_end);
}

template <class T>
constexpr host::Kernels kernel_table(const char* isa) {
  using Lane = LaneKernels<T>;
  host::Kernels k{};
  k.isa = isa;
  k.lanes = Lane::Buffer::kLanes;
  k.lane_buffer_bytes = Lane::buffer_bytes;
  k.lane_potrf = Lane::potrf;
  k.lane_potrs = Lane::potrs;
  k.lane_posv = Lane::posv;
  k.lane_potri = Lane::potri;
  using Side = InterleavedKernels<T>;
  k.interleaved_buffer_bytes = Side::buffer_bytes;
  k.interleaved_potrf = Side::potrf;
  k.interleaved_potrs = Side::potrs;
  k.interleaved_posv = Side::posv;
  k.interleaved_potri = Side::potri;
  k.strip_rows = Strips<T>::kRows;
  k.strip_width = Strips<T>::W;
  k.strip_elements = Strips<T>::elements;
  k.factor_small = factor_small_matrix<T>;
  k.factor_block = factor_block<T>;
  k.solve_rows = solve_rows<T>;
  k.update_tile = update_tile<T>;
  k.solve_buffer_bytes = SolveBuffer<T>::bytes;
  k.solve_vector = solve_vector<T>;
  k.solve_vectors = solve_vectors<T>;
  k.substitute_vector = substitute_vector<T>;
  k.solve = solve<T>;
  k.load_rhs = load_rhs<T>;
  k.store_rhs = store_rhs<T>;
  k.substitute = substitute<T>;
  k.pack_factor = pack_factor<T>;
  k.invert_rows = invert_rows<T>;
  k.invert_tile = invert_tile<T>;
  return k;
}

}  // namespace chol::CHOL_ISA

// The precision this translation unit is compiled for.
#define CHOL_JOIN_NAME(isa, letter) isa##_##letter
#define CHOL_TABLE_NAME(isa, letter) CHOL_JOIN_NAME(isa, letter)
#define CHOL_DEFINE_TABLE(isa_text)                                         \
  namespace chol::CHOL_ISA {                                                \
  using TableElement = CHOL_ELEMENT;                                        \
  }                                                                         \
  namespace chol::host {                                                    \
  extern const Kernels CHOL_TABLE_NAME(CHOL_ISA, CHOL_PRECISION);           \
  const Kernels CHOL_TABLE_NAME(CHOL_ISA, CHOL_PRECISION) =                 \
      chol::CHOL_ISA::kernel_table<chol::CHOL_ISA::TableElement>(isa_text); \
  }
