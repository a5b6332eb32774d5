#include "case.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>

#include "base/flops.hpp"

namespace chol::bench {
namespace {

struct RoutineName {
  Routine routine;
  const char* name;
};
constexpr RoutineName kRoutines[] = {
    {Routine::potrf, "potrf"},
    {Routine::potrs, "potrs"},
    {Routine::posv, "posv"},
    {Routine::potri, "potri"},
    {Routine::pocon, "pocon"},
    {Routine::logdet, "logdet"},
    {Routine::potrf_potrs, "potrf+potrs"},
};
struct FormName {
  Form form;
  const char* suffix;
};
constexpr FormName kForms[] = {
    {Form::one, ""},
    {Form::batched, "_batched"},
    {Form::strided_batched, "_strided_batched"},
    {Form::vbatched, "_vbatched"},
    {Form::interleaved, "_interleaved"},
};

double flops_of_one(const Case& c, double n) {
  const double nrhs = static_cast<double>(c.nrhs);
  switch (c.routine) {
    case Routine::potrf:
      return potrf_flops(n);
    case Routine::potrs:
      return potrs_flops(n, nrhs);
    case Routine::posv:
    case Routine::potrf_potrs:
      return potrf_flops(n) + potrs_flops(n, nrhs);
    case Routine::potri:
      return potri_flops(n);
    case Routine::pocon:
      return potrs_flops(n, 5);  // as counted in the library's trace
    case Routine::logdet:
      return n;
  }
  return 0;
}

double complex_factor(char precision) { return precision_is_complex(precision) ? 4 : 1; }

/// Copies of a single matrix: enough work to time, yet no more than half of a usual L2, because a
/// matrix that stands alone is likely to have just been written.
int64_t copies_of_one(const Case& c) {
  constexpr double kFlops = 2e6;
  constexpr double kBytes = 512 * 1024;
  const double n = static_cast<double>(std::max<int64_t>(c.n, 1));
  const double work = complex_factor(c.precision) * flops_of_one(c, n);
  const double bytes = n * n * static_cast<double>(element_size(c.precision));
  return static_cast<int64_t>(std::clamp(std::min(kFlops / work, kBytes / bytes), 1.0, 1000.0));
}

std::vector<int64_t> orders_of(const Case& c) {
  if (c.form == Form::one) return std::vector<int64_t>(copies_of_one(c), c.n);
  std::vector<int64_t> n(c.batch, c.n);
  if (c.form != Form::vbatched) return n;
  std::mt19937_64 random(20240917);
  for (int64_t& order : n) order = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(c.n));
  return n;
}

/// Distinct 32-byte sectors that hold the lower triangle of one matrix (the upper one holds as
/// many elements); its columns are contiguous, so that adjacent columns can share a sector.
double triangle_sectors(int64_t n, int64_t lda, int64_t size) {
  constexpr int64_t kSector = 32;
  int64_t sectors = 0, last = -1;
  for (int64_t j = 0; j < n; ++j) {
    const int64_t begin = std::max((j * lda + j) * size / kSector, last + 1);
    const int64_t end = ((j * lda + n) * size - 1) / kSector;
    if (end < begin) continue;
    sectors += end - begin + 1;
    last = end;
  }
  return static_cast<double>(sectors * kSector);
}

}  // namespace

bool share_memory(const Case& a, const Case& b) {
  Case c = b;
  c.uplo = a.uplo;
  c.threads = a.threads;
  c.apart = a.apart;
  return a == c && !wants_factor(a.routine);
}

int64_t chunk_of(const Case& c) {
  if (c.chunk > 0) return c.chunk;
  return c.precision == 's' || c.precision == 'c' ? 16 : 8;
}

bool has_rhs(Routine routine) {
  return routine == Routine::potrs || routine == Routine::posv || routine == Routine::potrf_potrs;
}

bool wants_factor(Routine routine) {
  return routine == Routine::potrs || routine == Routine::potri || routine == Routine::pocon ||
         routine == Routine::logdet;
}

size_t element_size(char precision) {
  switch (precision) {
    case 's':
      return 4;
    case 'z':
      return 16;
    default:
      return 8;
  }
}

void set_function(Case& c, const std::string& function) {
  const std::string prefix = "chol_";
  if (function.compare(0, prefix.size(), prefix) == 0 && function.size() > prefix.size() + 1) {
    const char letter = function[prefix.size()];
    const std::string rest = function.substr(prefix.size() + 1);
    for (const RoutineName& routine : kRoutines)
      for (const FormName& form : kForms)
        if (std::string("sdcz").find(letter) != std::string::npos &&
            rest == std::string(routine.name) + form.suffix) {
          c.precision = letter;
          c.routine = routine.routine;
          c.form = form.form;
          return;
        }
  }
  throw std::invalid_argument("no such function to time: " + function);
}

std::string function_name(const Case& c) {
  std::string name = std::string("chol_") + c.precision;
  for (const RoutineName& routine : kRoutines)
    if (routine.routine == c.routine) name += routine.name;
  for (const FormName& form : kForms)
    if (form.form == c.form) name += form.suffix;
  return name;
}

std::string describe(const Case& c) {
  std::string text = function_name(c) + ' ' + c.uplo + " n=" + std::to_string(c.n);
  if (has_rhs(c.routine)) text += " nrhs=" + std::to_string(c.nrhs);
  if (c.lda > c.n) text += " lda=" + std::to_string(c.lda);
  if (c.form == Form::interleaved) text += " chunk=" + std::to_string(chunk_of(c));
  if (c.form != Form::one) text += " batch=" + std::to_string(c.batch);
  return text + (c.apart ? " callers=" : " threads=") + std::to_string(c.threads);
}

std::string command_of(const Case& c) {
  return "chol-bench --function " + function_name(c) + " --uplo " + c.uplo + " --n " +
         std::to_string(c.n) + " --nrhs " + std::to_string(c.nrhs) + " --lda " +
         std::to_string(c.lda) +
         (c.form == Form::interleaved ? " --chunk " + std::to_string(chunk_of(c)) : "") +
         " --batch " + std::to_string(c.batch) + " --threads " + std::to_string(c.threads);
}

Layout layout_of(const Case& c) {
  Layout layout;
  layout.n = orders_of(c);
  for (const int64_t n : layout.n) {
    const int64_t lda =
        c.form == Form::vbatched ? std::max<int64_t>(n, 1) : std::max({c.lda, n, int64_t{1}});
    layout.lda.push_back(lda);
    layout.ldb.push_back(std::max<int64_t>(n, 1));
    layout.a.push_back(layout.a_elements);
    layout.b.push_back(layout.b_elements);
    layout.a_elements += lda * n;
    if (has_rhs(c.routine)) layout.b_elements += layout.ldb.back() * c.nrhs;
  }
  return layout;
}

double flops_of(const Case& c) {
  double flops = 0;
  for (const int64_t n : orders_of(c)) flops += flops_of_one(c, static_cast<double>(n));
  return complex_factor(c.precision) * flops;
}

double bytes_of(const Case& c) {
  const Layout layout = layout_of(c);
  const auto size = static_cast<int64_t>(element_size(c.precision));
  double bytes = 2.0 * static_cast<double>(layout.b_elements * size);
  const double passes =
      c.routine == Routine::potrs || c.routine == Routine::pocon || c.routine == Routine::logdet
          ? 1
          : 2;  // a factor that is only read is moved once
  int64_t n = -1, lda = -1;
  double triangle = 0;
  for (int64_t i = 0; i < layout.count(); ++i) {
    if (layout.n[i] != n || layout.lda[i] != lda) {
      n = layout.n[i];
      lda = layout.lda[i];
      // Sectors of interleaved triangles contain no other elements.
      triangle = c.form == Form::interleaved
                     ? 0.5 * static_cast<double>(n) * static_cast<double>((n + 1) * size)
                     : triangle_sectors(n, lda, size);
    }
    bytes += passes * triangle;
  }
  return bytes;
}

}  // namespace chol::bench
