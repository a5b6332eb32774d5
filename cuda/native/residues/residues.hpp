// Factorization of one large matrix whose products run on the integer tensor cores, at the accuracy
// of the working precision: left-looking over panels, with the factor's rows as integers by their
// residues modulo coprime numbers (Ozaki scheme II: Ozaki, Uchino, Imamura, 2025). A row has one
// scale for all panels, since sum |l_ik|^2 <= a_ii.
#pragma once

#include "base/arena.hpp"
#include "common/batch_view.cuh"
#include "native/blas.hpp"
#include "native/persistent/persistent.hpp"
#include "native/residues/call.hpp"
#include "native/residues/progress.hpp"
#include "tune/residue_row.hpp"

namespace chol::cuda::residues {

template <class T>
struct Workspace {
  int64_t panel_columns, native_columns;  ///< as the row says
  int moduli;
  bool by_bytes;
  bool in_capture = false;  ///< if the host cannot wait
  persistent::Workspace<T> panel;
  Scales scales;
  int* flagged = nullptr;
  Planes planes;
  /// Sums of a panel, of the real or the imaginary parts.
  Sums sums[kParts<T>];
  SumsOf<int8_t> bytes[kParts<T>];
  Planes turned;  ///< complex: i times the rows of the diagonal block
  int* info_of_rest = nullptr;

  static Workspace carve(Arena& arena, int64_t n, const ResidueRow& row);
};

/// Whether the current device supports that order, including its panels.
template <class T>
bool can_run(int64_t n);

/// Factors as many panels as are certified: rows of integers within the bound that makes their
/// products exact. Waits for the device between panels; in a capture, additional kernels do the
/// rest natively, which return early if nothing is flagged, and all columns are factored. @param
/// factored number of finished columns of the factor: full panels, after which the columns are
/// unchanged; n if nothing is left to do, also if info has been set. Otherwise info is 0.
template <class T>
Status factor_certified(const BatchProblem<T>& problem, const Workspace<T>& work, Blas& blas,
                        Progress& progress, cudaStream_t stream, int64_t* factored);

/// info of the whole matrix from that of the rows from `before` down.
Status add_info_of_rest(int* info, const int* rest, int64_t before, cudaStream_t stream);

}  // namespace chol::cuda::residues
