// What solves with the factors of batches: every kernel of block_solve is named by a row, every row
// names a kernel that is built and serves some case, and every case has a method that accepts it.
// Needs no device.
#include <cstdio>
#include <string_view>
#include <vector>

#include "batched/solve/block/kernel.cuh"
#include "batched/solve/choose.hpp"
#include "tally.hpp"
#include "tune/rows.hpp"

namespace chol::cuda {
namespace {

Tally tally;
constexpr int64_t kSharedBytes = 227 * 1024;  ///< of a block, sm_90

template <class T, bool kSwapped>
bool is_built(const BlockSolveParams& params, int64_t n) {
  bool fits = false;
  const auto check = [&]<bool kOne>(std::bool_constant<kOne>) {
    for_block_solve_shape<T, kOne>(params, [&]<class Shape>(Shape) {
      using Layout = BlockSolveLayout<T, kSwapped, kOne, Shape>;
      fits = int64_t(Layout::bytes(static_cast<int>(n))) <= kSharedBytes;
    });
  };
  if (params.rhs > 1)
    check(std::false_type{});
  else
    check(std::true_type{});
  return fits;
}
template <class T>
constexpr SolveLimits kLimits{128, sizeof(T) == 4 ? 192 : 64, 1024,
                              [](const BlockSolveParams& params, int64_t n, bool upper) {
                                return upper ? is_built<T, true>(params, n)
                                             : is_built<T, false>(params, n);
                              }};

template <class T>
Case case_of(int64_t n, int64_t nrhs, int flags) {
  Case asked{Routine::potrs, Form::batch, kLetter<T>};
  asked.n = n;
  asked.nrhs = nrhs;
  asked.upper = flags & 1;
  asked.aligned = !(flags & 2);
  asked.variable = flags & 4;
  return asked;
}
template <class T, class Body>
void for_each_case(int64_t most_n, Body&& body) {
  for (int64_t n = 1; n <= most_n; ++n)
    for (const int64_t nrhs : {1, 2, 3, 4, 5, 16, 300})
      for (int flags = 0; flags < 8; ++flags) body(case_of<T>(n, nrhs, flags));
}

template <class T, bool kOne>
void check_kernels(const SolveRows& rows) {
  []<class... Shape>(ShapeList<Shape...>, const SolveRows& named) {
    const auto check = [&](const BlockSolveParams& params) {
      bool found = false;
      for (const SolveRow& row : named) found = found || row.params == params.params();
      if (!tally.count(found))
        std::printf("%c: no row names the kernel of order %d\n", kLetter<T>, params.order);
    };
    (check(Shape::kParams), ...);
  }(BlockSolveShapes<T, kOne>{}, rows);
}
template <class T>
void check_row(const SolveRow& row, const SolveRows& rows) {
  bool built = false, serves = false;
  const auto of = BlockSolveParams::of(row.params);
  SolveLimits without = kLimits<T>;
  without.can_run_block = [](const BlockSolveParams& params, int64_t n, bool upper) {
    return !params.mma && kLimits<T>.can_run_block(params, n, upper);
  };
  for_each_case<T>(352, [&](const Case& asked) {
    built = built || is_built<T, false>(of, asked.n);
    for (const SolveLimits& limits : {kLimits<T>, without})
      serves =
          serves || (row.has(asked) && choose_solve<T>(asked, rows, limits).params == row.params);
  });
  if (!tally.count(built && serves && row.params.are_of(kBlockSolveKnobs)))
    std::printf("%c: the row of the kernel of order %d: built %d, serves %d\n", kLetter<T>,
                of.order, built, serves);
}
/// The built-in rows of batches, or of one matrix.
template <class T>
RowTable built_in(Form form) {
  RowTable table;
  for (const Row& row : built_in_rows(90, 132))
    if (row.routine == Routine::potrs && row.precision == kLetter<T> && row.form == form)
      table.add(row.cases, row.choice);
  return table;
}
/// The first row that has a case and whose method accepts it.
template <class T>
const Choice* choose(const Case& asked, const RowTable& table) {
  return table.choose(asked, [&](const Choice& its) {
    if (!solves_batches(its)) return true;
    return solve_method<T>(its.method->name).accepts(asked, params_of(its), kLimits<T>);
  });
}
template <class T>
void check_table() {
  for (const Form form : {Form::one, Form::batch}) {
    const RowTable table = built_in<T>(form);
    for_each_case<T>(400, [&](Case asked) {
      for (const int64_t batch : {1, 263, 264}) {
        asked.batch = batch;
        if (!tally.count(choose<T>(asked, table) != nullptr))
          std::printf("%c, n = %d, %d right-hand sides: no row\n", kLetter<T>, int(asked.n),
                      int(asked.nrhs));
      }
    });
  }
}
/// What is known of some cases.
template <class T>
void expect(Case asked, const char* wanted) {
  asked.batch = 100000;
  char text[160] = "";
  if (const Choice* const choice = choose<T>(asked, built_in<T>(Form::batch)))
    print_choice(text, sizeof text, *choice);
  if (!tally.count(std::string_view(text) == wanted))
    std::printf("n = %d, %d right-hand sides: %s, must be %s\n", int(asked.n), int(asked.nrhs),
                text, wanted);
}

template <class T>
void check_all() {
  SolveRows of_one, of_several;
  add_block_rows(of_one, kLetter<T>, {1, 1});
  add_block_rows(of_several, kLetter<T>, {2, 16});
  check_kernels<T, true>(of_one);
  check_kernels<T, false>(of_several);
  for (const SolveRow& row : of_one) check_row<T>(row, of_one);
  for (const SolveRow& row : of_several) check_row<T>(row, of_several);
  check_table<T>();
}

}  // namespace
}  // namespace chol::cuda

int main() {
  using namespace chol;
  using namespace chol::cuda;
  check_all<float>();
  check_all<double>();
  check_all<Complex<float>>();
  check_all<Complex<double>>();
  const char* const three =
      "block_solve(order=128,warp_blocks=1,groups=1,rhs=1,blocks=3,mma=0,register_columns=0)";
  const char* const two =
      "block_solve(order=96,warp_blocks=2,groups=1,rhs=1,blocks=3,mma=0,register_columns=0)";
  expect<double>(case_of<double>(90, 1, 0), two);
  expect<double>(case_of<double>(90, 1, 2), three);   // misaligned columns
  expect<double>(case_of<double>(90, 1, 3), two);     // of the upper triangle
  expect<double>(case_of<double>(129, 1, 0), three);  // bordered
  expect<double>(case_of<double>(90, 2, 0), "warp_solve");
  expect<double>(case_of<double>(500, 7, 0), "left_looking_mma_solve(threads=256)");
  expect<double>(case_of<double>(5000, 7, 0), "streaming_solve");
  return tally.report();
}
