// What factors batches: every left-looking kernel is named by a row, every row names a kernel that
// is built, and every case of every built-in row has a choice that is accepted. Needs no device.
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "batched/choose_factor.hpp"
#include "batched/left_looking/kernel.cuh"
#include "batched/left_looking/shapes.hpp"
#include "batched/solve/choose.hpp"
#include "tally.hpp"
#include "tune/cluster_rows.hpp"
#include "tune/rows.hpp"

namespace chol::cuda {
namespace {

Tally tally;
constexpr size_t kSharedBytes = 227 * 1024;  ///< of a block, sm_90

template <class T, bool kSwapped, bool kFused>
bool can_run(const LeftLookingParams& params, int64_t n, bool bordered) {
  const auto fits = [&]<class Shape>(Shape) {
    if constexpr (!kFused || kSolvesAlong<Shape>)
      return Shape::kParams == params &&
             LeftLooking<T, kSwapped, Shape, kFused>::bytes(n, bordered) <= kSharedBytes;
    return false;
  };
  return [&]<class... Shape>(ShapeList<Shape...>) {
    return (fits(Shape{}) || ...);
  }(LeftLookingList<T, kSwapped, kFused>{});
}
template <class T>
bool can_run_any(const LeftLookingParams& params, bool fused, int64_t n, bool upper,
                 bool bordered) {
  if (fused)
    return upper ? can_run<T, true, true>(params, n, bordered)
                 : can_run<T, false, true>(params, n, bordered);
  return upper ? can_run<T, true, false>(params, n, bordered)
               : can_run<T, false, false>(params, n, bordered);
}

template <class T>
Case case_of(Routine routine, int64_t n, int64_t batch, int flags) {
  Case asked{routine, Form::batch, kLetter<T>};
  asked.n = n;
  asked.nrhs = routine == Routine::posv ? 1 : 0;
  asked.batch = batch;
  asked.upper = flags & 1;
  asked.aligned = !(flags & 2);
  asked.variable = flags & 4;
  return asked;
}
/// The choice as text, empty where there is none.
template <class T>
std::string choose(const Case& asked, const Choice& row, ClusterPlan clusters) {
  FactorChoice chosen;
  const auto take = [&](const FactorChoice& choice) {
    if (!accepts_choice<T>(asked, choice, can_run_any<T>)) return false;
    chosen = choice;
    return true;
  };
  const auto has_multi_panel = [&](int threads) { return has_wide<T>(asked.upper, threads); };
  const bool found = (asked.routine == Routine::posv && try_posv_rows(asked, row, take)) ||
                     try_factor_rows(asked, row, clusters, has_multi_panel, take);
  if (!found) return "";
  char text[160];
  print_method(text, sizeof text, chosen.method, chosen.params());
  return text;
}

/// Every kernel of a list is named by a row of that triangle.
template <class T, bool kSwapped, bool kFused>
void check_kernels() {
  const auto check = [](const LeftLookingParams& params) {
    bool named = false;
    for (const LeftLookingRow& row : left_looking_rows())
      named =
          named || (row.precision == kLetter<T> && row.upper == kSwapped && row.params == params);
    if (!tally.count(named))
      std::printf("%c, upper %d: no row names the kernel of %d warps, %d blocks\n", kLetter<T>,
                  kSwapped, params.warps, params.blocks);
  };
  [&]<class... Shape>(ShapeList<Shape...>) {
    (check(Shape::kParams), ...);
  }(LeftLookingList<T, kSwapped, kFused>{});
}
/// Every row names a kernel that is built.
template <class T>
void check_rows() {
  for (const LeftLookingRow& row : left_looking_rows())
    if (row.precision == kLetter<T>) {
      const bool bordered = row.columns == Columns::bordered;
      if (!tally.count(can_run_any<T>(row.params, bordered, 33, row.upper, bordered)))
        std::printf("%c, upper %d: the kernel of %d warps, %d blocks is not built\n", kLetter<T>,
                    row.upper, row.plan_warps, row.plan_blocks);
    }
}
template <class T>
void check_choice(Routine routine, const Choice& row, Range orders) {
  for (int64_t n = std::max<int64_t>(orders.least, 1); n <= std::min<int64_t>(orders.most, 700);
       ++n)
    for (const int64_t batch : {10, 100000})
      for (int flags = 0; flags < 8; ++flags) {
        const Case asked = case_of<T>(routine, n, batch, flags);
        const ClusterPlan clusters = cluster_plan(kLetter<T>, asked.upper, n, batch, 132);
        if (!tally.count(!choose<T>(asked, row, clusters).empty()))
          std::printf("%c, n = %d: nothing factors\n", kLetter<T>, int(n));
      }
}
template <class T>
void check_all() {
  check_kernels<T, false, false>();
  check_kernels<T, false, true>();
  check_kernels<T, true, false>();
  check_kernels<T, true, true>();
  check_rows<T>();
  for (const Row& row : built_in_rows(90, 132))
    if (row.form == Form::batch && row.precision == kLetter<T> && !is_native(row.choice) &&
        (row.routine == Routine::potrf || row.routine == Routine::posv))
      check_choice<T>(row.routine, row.choice, row.cases.n);
}
/// The built-in row of a case.
std::string built_in(const Case& asked) {
  RowTable rows;
  for (const Row& row : built_in_rows(90, 132))
    if (row.routine == asked.routine && row.form == asked.form && row.precision == asked.precision)
      rows.add(row.cases, row.choice);
  char text[160];
  print_choice(text, sizeof text, rows.choose(asked));
  return text;
}
/// By the number of matrices, of right-hand sides, and whether orders differ.
void check_built_in() {
  const auto expect = [](const Case& asked, const char* wanted) {
    if (!tally.count(built_in(asked) == wanted))
      std::printf("n = %d, batch %d: %s, must be %s\n", int(asked.n), int(asked.batch),
                  built_in(asked).c_str(), wanted);
  };
  const auto potrf = [](int64_t n, int64_t batch, int flags) {
    return case_of<double>(Routine::potrf, n, batch, flags);
  };
  expect(potrf(500, 100000, 0), "left_looking_potrf(warps=3,blocks=3,in_order=0)");
  expect(potrf(500, 264, 0), "left_looking_potrf(warps=3,blocks=3,in_order=0)");
  expect(potrf(500, 132, 0), "left_looking_potrf(warps=3,blocks=3,in_order=0)");
  expect(potrf(500, 131, 0), "left_looking_potrf(warps=8,blocks=0,in_order=1)");
  expect(potrf(500, 1, 4), "left_looking_potrf(warps=8,blocks=0,in_order=1)");
  expect(potrf(500, 1, 0), "persistent_potrf(panel=0,groups=1,leaf_threads=128)");
  expect(potrf(130, 263, 0), "left_looking_potrf(warps=8,blocks=24,in_order=1)");
  expect(potrf(700, 131, 0), "multi_panel_potrf(threads=256,upper_threads=0,in_order=0)");
  expect(potrf(20, 264, 4), "vbatched_register_potrf");
  expect(potrf(20, 263, 4), "register_potrf(lanes=0,in_order=1)");
  expect(potrf(20, 264, 0), "register_potrf(lanes=0,in_order=0)");
  expect(potrf(40, 264, 4), "left_looking_potrf(warps=1,blocks=12,in_order=0)");
  Case posv = case_of<double>(Routine::posv, 550, 100000, 0);
  expect(posv, "left_looking_posv(warps=4,blocks=4,in_order=0)");
  posv.nrhs = 2;  // factors by the rows of potrf
  expect(posv, "left_looking_potrf(warps=3,blocks=3,in_order=0)");
}
/// What is known of some cases.
void expect(int64_t n, int64_t batch, int flags, const Choice& row, const char* wanted) {
  const Case asked = case_of<double>(Routine::potrf, n, batch, flags);
  const std::string text =
      choose<double>(asked, row, cluster_plan('d', asked.upper, n, batch, 132));
  if (!tally.count(text == wanted))
    std::printf("n = %d, batch %d: %s, must be %s\n", int(n), int(batch), text.c_str(), wanted);
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
  check_built_in();
  const auto left_looking = [](int warps, int blocks) {
    return Choice(kLeftLookingPotrf, {{"warps", warps}, {"blocks", blocks}});
  };
  const Choice three = left_looking(3, 3), panels(kMultiPanelPotrf, {{"threads", 256}});
  const char* const lower =
      "left_looking_potrf(warps=3,depth=8,blocks=4,columns=32,mma=1,options=0,bordered=0)";
  const char* const upper =
      "left_looking_potrf(warps=4,depth=16,blocks=2,columns=32,mma=1,options=5,bordered=0)";
  const char* const misaligned =
      "left_looking_potrf(warps=2,depth=16,blocks=5,columns=32,mma=1,options=0,bordered=0)";
  expect(500, 100000, 0, three, lower);
  expect(500, 100000, 1, three, upper);
  expect(500, 100000, 3, left_looking(3, 4), misaligned);
  expect(500, 10, 0, three, "cluster_potrf(threads=256,blocks=8,paired=0)");
  expect(700, 100000, 0, panels, "multi_panel_potrf(threads=256)");
  expect(48, 100000, 1, left_looking(1, 12), "register_potrf(lanes=0)");
  expect(65, 100000, 0, left_looking(1, 12),
         "left_looking_potrf(warps=1,depth=8,blocks=12,columns=16,mma=1,options=9,bordered=1)");
  return tally.report();
}
