// Policy as data: a plan says how a problem is worked on; a tuning row says for which problems.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chol {

enum class Routine : uint8_t { potrf, potrs, posv, potri, pocon, logdet, pack, unpack };
inline constexpr int kRoutineCount = 8;
const char* routine_name(Routine routine);

/// One matrix and a batch of the same size are different problems: threads go into the matrix or
/// over the matrices. In an interleaved batch the matrices lie side by side, element by element.
enum class Form : uint8_t { one, batch, interleaved };
inline constexpr int kFormCount = 3;
const char* form_name(Form form);

/// How a matrix is worked on. Every backend accepts a subset.
enum class Method : uint8_t {
  lanes,       ///< a SIMD lane (host) or thread (GPU) a matrix
  panel,       ///< one core or thread block a matrix, left-looking over the whole matrix
  tiles,       ///< right-looking over block columns, tiles spread over the threads
  fused,       ///< GPU: one thread block (or part) a matrix held in registers and shared memory
  blocked,     ///< GPU: recursive blocking, panel kernel, trsm and gemm
  blas_tiles,  ///< as tiles, the updates by the BLAS that the library was built with
  persistent,  ///< GPU: one matrix by one kernel over all multiprocessors
};
const char* method_name(Method method);

/// Whether the threads work on the tiles of one matrix.
inline bool by_tiles(Method method) {
  return method == Method::tiles || method == Method::blas_tiles;
}

/// A method and its knobs. A knob that the method does not have is 0.
struct Plan {
  Method method = Method::panel;
  int block = 0;    ///< columns of a block column (tiles, blas_tiles, blocked)
  int tile = 0;     ///< rows of a task's tile (tiles); register tile or sub-warp width (GPU)
  int threads = 0;  ///< most threads worth using on the problem; 0 is no bound
};

/// The plan for orders up to max_n that no earlier row of the same key covers.
struct TuningRow {
  Routine routine;
  Form form;
  char precision;  ///< s, d, c, z
  int64_t max_n;
  Plan plan;
};

/// How fast a backend factors one matrix of order up to max_n that lies in host memory: what an
/// offload weighs.
struct RateRow {
  char precision;      ///< s, d, c, z
  int64_t max_n;       ///< the last row of a precision serves every larger order too
  double gflops;       ///< of the factorization: a host thread's share, or the device's
  double gbytes_each;  ///< device: Gbyte/s of the triangle's way there, and of its way back
};

/// The rows of one routine, form and precision, in ascending max_n; the last covers every n.
class PlanTable {
 public:
  void add(int64_t max_n, const Plan& plan) { rows_.push_back({max_n, plan}); }
  bool empty() const { return rows_.empty(); }
  const Plan& plan_for(int64_t n) const {
    for (const Row& row : rows_)
      if (n <= row.max_n) return row.plan;
    return rows_.back().plan;
  }
  /// Calls visit(plan, largest order it serves) for every plan that orders up to n meet.
  template <class Visit>
  void for_each_up_to(int64_t n, Visit&& visit) const {
    for (const Row& row : rows_) {
      visit(row.plan, row.max_n < n ? row.max_n : n);
      if (n <= row.max_n) break;
    }
  }

 private:
  struct Row {
    int64_t max_n;
    Plan plan;
  };
  std::vector<Row> rows_;
};

}  // namespace chol
