#include "tune/rows.hpp"

#include <cstdint>
#include <iterator>

namespace chol::cuda {
namespace {

// How a plan's knobs read here.
//  - lanes: registers of a few lanes a matrix (small.cuh); tile: lanes, 0 for the first shape.
//  - fused: potrf and posv hold a matrix in the registers of a block (panel.cuh); threads: of the
//    block, 0 for any. potrs holds the triangle in shared memory (solve.cuh).
//  - blocked: potrf and posv go by block columns (panel.cuh, strip.cuh), for one matrix with cuBLAS
//    between; threads: of the panel's block. potrs streams tiles (stream_solve.cuh), for one matrix
//    by cuBLAS.
// potri, pocon and logdet have one method each.
constexpr int64_t kAny = INT64_MAX;
constexpr Routine kFactor[] = {Routine::potrf, Routine::posv};

struct Limits {
  char precision;
  int64_t batch_fused, one_fused;  ///< orders up to which one block holds the matrix
  int64_t solve_shared;            ///< orders up to which the solve holds the triangle
  int one_threads;                 ///< of the panel when nothing else fills the device
};
// Measured on an H200, CUDA 13.0: a batch leaves one block a matrix earlier than one matrix does,
// since its square roots can then wait beside the strips of other matrices.
constexpr Limits kHopper[] = {{'s', 128, 256, 192, 128},
                              {'d', 96, 192, 128, 128},
                              {'c', 96, 192, 128, 128},
                              {'z', 64, 128, 88, 256}};

constexpr Plan plan(Method method) { return {method, 0, 0, 0}; }

constexpr int kRowsPerPrecision = 2 * 2 * 3 + 2 * 3 + 3 * 2;
struct Table {
  TuningRow rows[kRowsPerPrecision * std::size(kHopper)];
};

constexpr Table make_table() {
  Table table{};
  TuningRow* row = table.rows;
  for (const Limits& limits : kHopper) {
    const char p = limits.precision;
    for (Form form : {Form::one, Form::batch}) {
      for (Routine routine : kFactor) {
        *row++ = {routine, form, p, 32, plan(Method::lanes)};
        *row++ = {routine, form, p, form == Form::one ? limits.one_fused : limits.batch_fused,
                  plan(Method::fused)};
        *row++ = {routine, form, p, kAny, plan(Method::blocked)};
        if (form == Form::one) row[-1].plan.threads = limits.one_threads;
      }
      *row++ = {Routine::potrs, form, p, 32, plan(Method::lanes)};
      *row++ = {Routine::potrs, form, p, limits.solve_shared, plan(Method::fused)};
      *row++ = {Routine::potrs, form, p, kAny, plan(Method::blocked)};
      for (Routine routine : {Routine::potri, Routine::pocon, Routine::logdet})
        *row++ = {routine, form, p, kAny, plan(Method::blocked)};
    }
  }
  return table;
}

constexpr Table kTable = make_table();

}  // namespace

const TuningRow* built_in_rows(int, size_t* count) {
  *count = std::size(kTable.rows);
  return kTable.rows;
}

}  // namespace chol::cuda
