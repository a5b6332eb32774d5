// A timed case: one call of one routine on a batch of given sizes, with the name used in the
// library's trace. Plain data, which can be sent to the contestants' processes.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace chol::bench {

/// potrf_potrs is the factorization followed by the solve, two calls timed as one.
enum class Routine : int32_t { potrf, potrs, posv, potri, pocon, logdet, potrf_potrs };

/// Form of the call. The loops of LAPACK peers are the same for every form. Of the interleaved form
/// the inputs are column-major; each contestant lays them out outside of the timer.
enum class Form : int32_t { one, batched, strided_batched, vbatched, interleaved };

struct Case {
  Routine routine = Routine::potrf;
  Form form = Form::batched;
  char precision = 'd';
  char uplo = 'L';
  int32_t threads = 1;
  int64_t n = 0;  ///< order; of a variable batch the bound, orders are uniform in 1..n
  int64_t nrhs = 0;
  int64_t lda = 0;  ///< 0 is n; of a variable batch always n[b]
  int64_t batch = 1;
  int64_t chunk = 0;  ///< of the interleaved form, 0 for 64 bytes of reals
  bool apart =
      false;  ///< number of concurrent callers, each with one thread and a part of the batch
  bool operator==(const Case&) const = default;
};
static_assert(std::is_trivially_copyable_v<Case>);

/// Layout of the matrices of a case in its two arrays, in elements.
struct Layout {
  std::vector<int64_t> n;         ///< orders
  std::vector<int64_t> lda, ldb;  ///< leading dimensions
  std::vector<int64_t> a, b;      ///< offsets of the matrices and of the right-hand sides
  int64_t a_elements = 0, b_elements = 0;
  int64_t count() const { return static_cast<int64_t>(n.size()); }
};

/// The layout follows from the case alone, the same in every process. A case of one matrix has as
/// many copies (of different values, called one after another) as needed for a measurable time.
Layout layout_of(const Case& c);

/// Sets what the trace's --function names: "chol_dpotrf_batched". Throws std::invalid_argument.
void set_function(Case& c, const std::string& function);
std::string function_name(const Case& c);

/// "chol_dpotrf_batched L n=16 batch=10000 threads=1"
std::string describe(const Case& c);
/// The command line that repeats it.
std::string command_of(const Case& c);

/// Whether both use the same input in the same memory: they differ at most in the triangle, the
/// threads and whether these are separate callers, and neither starts from a factor of one
/// triangle.
bool share_memory(const Case& a, const Case& b);

/// Matrices of a chunk in the interleaved form.
int64_t chunk_of(const Case& c);
bool has_rhs(Routine routine);
/// The routine reads a factor, so that the input must be factored before timing.
bool wants_factor(Routine routine);
size_t element_size(char precision);
inline bool precision_is_complex(char precision) { return precision == 'c' || precision == 'z'; }

/// Floating point operations of the whole case.
double flops_of(const Case& c);
/// Bytes that must be moved: the triangle and the right-hand sides in the 32-byte sectors that hold
/// them, read and written once.
double bytes_of(const Case& c);

}  // namespace chol::bench
