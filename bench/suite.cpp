#include "suite.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/flops.hpp"

namespace chol::bench {
namespace {

constexpr int64_t kBatch = 10000;
constexpr double kMostBytes = 300e6;

const std::vector<std::string> kLoopPeers = {"openblas", "openblas-skx", "eigen", "eigen-fixed",
                                             "reference"};
const std::vector<std::string> kCompact = {"mkl-compact"};
const std::vector<std::string> kLargePeers = {"openblas", "openblas-skx", "eigen"};

const Bar& bar_named(const std::string& id) {
  for (const Bar& bar : bars())
    if (id == bar.id) return bar;
  throw std::logic_error("no bar " + id);
}

/// 10^4 matrices, or fewer if they exceed the memory limit of a case.
int64_t batch_for(char precision, int64_t n, int64_t nrhs) {
  const double bytes = static_cast<double>(n * (n + nrhs)) * element_size(precision);
  return std::min(kBatch, static_cast<int64_t>(kMostBytes / bytes));
}

Case case_of(Routine routine, Form form, char precision, int64_t n, int64_t nrhs, int threads) {
  Case c;
  c.routine = routine;
  c.form = form;
  c.precision = precision;
  c.n = n;
  c.nrhs = nrhs;
  c.lda = n;
  c.threads = threads;
  c.batch = form == Form::one ? 1 : batch_for(precision, n, nrhs);
  return c;
}

/// The cases of one call pattern over a grid; those of quick_n are the quick ones.
struct Grid {
  const char* bar;
  Routine routine;
  Form form;
  const char* precisions;
  std::vector<int64_t> n, quick_n, nrhs;
};

const std::vector<Grid>& grids() {
  static const std::vector<Grid> all = {
      {"batch-4-16",
       Routine::potrf,
       Form::batched,
       "ds",
       {4, 5, 6, 8, 10, 12, 14, 16},
       {4, 8, 16},
       {0}},
      {"batch-17-32", Routine::potrf, Form::batched, "ds", {17, 20, 24, 28, 32}, {24, 32}, {0}},
      {"batch-48-128", Routine::potrf, Form::batched, "ds", {48, 64, 80, 96, 128}, {64, 128}, {0}},
      {"batch-complex",
       Routine::potrf,
       Form::batched,
       "zc",
       {4, 8, 12, 16, 24, 32, 48, 64},
       {8, 32, 64},
       {0}},
      {"batch-solve",
       Routine::potrf_potrs,
       Form::batched,
       "ds",
       {8, 12, 16, 24, 32, 48, 64},
       {8, 32, 64},
       {1, 16}},
      {"interleaved-4-16",
       Routine::potrf,
       Form::interleaved,
       "ds",
       {4, 5, 6, 8, 10, 12, 14, 16},
       {4, 8, 16},
       {0}},
      {"interleaved-17-64",
       Routine::potrf,
       Form::interleaved,
       "ds",
       {17, 20, 24, 28, 32, 48, 64},
       {24, 32, 64},
       {0}},
      {"interleaved-solve",
       Routine::posv,
       Form::interleaved,
       "ds",
       {4, 8, 12, 16, 24, 32, 48, 64},
       {8, 32},
       {1}},
      {"interleaved-loop-4-16",
       Routine::potrf,
       Form::interleaved,
       "ds",
       {4, 6, 8, 12, 16},
       {8},
       {0}},
      {"interleaved-loop-17-64",
       Routine::potrf,
       Form::interleaved,
       "ds",
       {17, 24, 32, 48, 64},
       {32},
       {0}},
      {"one-32-300",
       Routine::potrf,
       Form::one,
       "ds",
       {32, 48, 64, 100, 150, 200, 250, 300},
       {32, 100, 300},
       {0}},
      {"one-500-8000",
       Routine::potrf,
       Form::one,
       "ds",
       {500, 750, 1000, 1500, 2000, 3000, 5000, 8000},
       {500, 1000, 2000},
       {0}},
  };
  return all;
}

bool contains(const std::vector<int64_t>& list, int64_t n) {
  return std::find(list.begin(), list.end(), n) != list.end();
}

void add_grid(std::vector<SuiteCase>& cases, const Grid& grid, const std::vector<int>& threads) {
  for (const char* p = grid.precisions; *p; ++p)
    for (const int64_t n : grid.n)
      for (const int64_t nrhs : grid.nrhs)
        for (const int t : threads) {
          SuiteCase entry;
          entry.bar = &bar_named(grid.bar);
          entry.ours = case_of(grid.routine, grid.form, *p, n, nrhs, t);
          entry.quick = contains(grid.quick_n, n);
          cases.push_back(entry);
        }
}

void add_with_itself(std::vector<SuiteCase>& cases, const char* bar, const Case& ours,
                     const Case& other, bool quick) {
  cases.push_back({&bar_named(bar), ours, true, other, quick});
}

void add_scaling(std::vector<SuiteCase>& cases, const std::vector<int>& threads) {
  const int most = *std::max_element(threads.begin(), threads.end());
  if (most < 2) return;
  for (const char p : {'d', 's'})
    for (const int64_t n : {4, 8, 16, 32, 64, 128}) {
      Case ours = case_of(Routine::potrf, Form::batched, p, n, 0, 2), other = ours;
      other.threads = 1;
      const bool quick = n == 8 || n == 32 || n == 128;
      add_with_itself(cases, "scaling", ours, other, quick);
      Case callers = ours;
      callers.apart = true;
      add_with_itself(cases, "callers", ours, callers, quick);
    }
}

/// Orders uniform in 1..64 against the one order whose batch has the same flops: 40, and as many
/// of them as make the flops equal.
void add_variable(std::vector<SuiteCase>& cases, const std::vector<int>& threads) {
  for (const char p : {'d', 's'})
    for (const int t : threads) {
      Case ours = case_of(Routine::potrf, Form::vbatched, p, 64, 0, t);
      ours.batch = kBatch;
      Case other = case_of(Routine::potrf, Form::batched, p, 40, 0, t);
      other.batch = 1;
      other.batch = std::llround(flops_of(ours) / flops_of(other));
      add_with_itself(cases, "variable", ours, other, true);
    }
}

void add_upper(std::vector<SuiteCase>& cases, const std::vector<int>& threads) {
  const auto add = [&](Form form, char p, int64_t n, int t, bool quick) {
    Case ours = case_of(Routine::potrf, form, p, n, 0, t), other = ours;
    ours.uplo = 'U';
    add_with_itself(cases, "upper", ours, other, quick);
  };
  for (const char p : {'d', 's'})
    for (const int t : threads) {
      for (const int64_t n : {4, 8, 16, 24, 32, 64, 128})
        add(Form::batched, p, n, t, t == 1 && (n == 8 || n == 32 || n == 128));
      for (const int64_t n : {100, 300, 1000, 2000}) add(Form::one, p, n, t, n == 300 && t == 1);
    }
  for (const int64_t n : {8, 32, 64}) add(Form::batched, 'z', n, 1, n == 32);
}

/// One case of every kind, too small to measure speed.
std::vector<SuiteCase> smoke_cases() {
  std::vector<SuiteCase> cases;
  for (const char p : {'s', 'd', 'c', 'z'})
    for (const Form form :
         {Form::one, Form::batched, Form::strided_batched, Form::vbatched, Form::interleaved})
      for (const Routine routine : {Routine::potrf, Routine::potrf_potrs, Routine::potri}) {
        Case c = case_of(routine, form, p, 8, has_rhs(routine) ? 3 : 0, 1);
        if (form != Form::one) c.batch = 20;
        cases.push_back({&bar_named("batch-4-16"), c, false, {}, true});
      }
  Case upper = cases.front().ours;
  upper.uplo = 'U';
  add_with_itself(cases, "upper", upper, cases.front().ours, true);
  return cases;
}

}  // namespace

const std::vector<Bar>& bars() {
  static const std::vector<Bar> all = {
      {"batch-4-16", "d/s batched potrf, n = 4..16", 2.5, 6, kLoopPeers},
      {"batch-17-32", "d/s batched potrf, n = 17..32", 1.8, 4, kLoopPeers},
      {"batch-48-128", "d/s batched potrf, n = 48..128", 1.5, 3, kLoopPeers},
      {"batch-complex", "c/z batched potrf, n = 4..64", 1.5, 3, kLoopPeers},
      {"batch-solve", "batched potrf + potrs, nrhs 1 and 16, n = 8..64", 1.8, 4, kLoopPeers},
      {"interleaved-4-16", "d/s interleaved potrf, n = 4..16", 1.3, 2, kCompact},
      {"interleaved-17-64", "d/s interleaved potrf, n = 17..64", 1.1, 1.5, kCompact},
      {"interleaved-solve", "d/s interleaved posv, nrhs 1, n = 4..64", 1.1, 1.5, kCompact},
      {"interleaved-loop-4-16", "interleaved potrf over a loop, n = 4..16", 4, 10, kLoopPeers},
      {"interleaved-loop-17-64", "interleaved potrf over a loop, n = 17..64", 2, 4, kLoopPeers},
      {"one-32-300", "one matrix, n = 32..300", 1.3, 2, {}},
      {"one-500-8000", "one matrix, n = 500..8000", 1.0, 1.2, kLargePeers},
      {"scaling", "2 threads over 1, batches of 10^4", 1.8, 1.95, {"chol"}},
      {"callers", "2 threads of a call over 2 calls of one at once", 0.95, 1, {"chol"}},
      {"variable", "vbatched 1..64 against fixed size, same flops", 0.8, 0.9, {"chol"}},
      {"upper", "upper against lower", 0.95, 1, {"chol"}},
  };
  return all;
}

const std::vector<std::string>& suite_names() {
  static const std::vector<std::string> names = {"host", "smoke"};
  return names;
}

std::vector<SuiteCase> suite_cases(const std::string& name, const std::vector<int>& threads) {
  if (name == "smoke") return smoke_cases();
  if (name != "host") throw std::invalid_argument("no such suite: " + name);
  std::vector<SuiteCase> cases;
  for (const Grid& grid : grids()) add_grid(cases, grid, threads);
  add_scaling(cases, threads);
  add_variable(cases, threads);
  add_upper(cases, threads);
  return cases;
}

}  // namespace chol::bench
