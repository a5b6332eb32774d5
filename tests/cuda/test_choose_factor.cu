// What factors batches: every left-looking kernel is named by a row, every row names a kernel that
// is built, and every case of every built-in plan has a choice that is accepted. Needs no device.
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
std::string choose(const Case& asked, const Plan& plan, ClusterPlan clusters) {
  FactorChoice chosen;
  const auto take = [&](const FactorChoice& choice) {
    if (!accepts_choice<T>(asked, choice, can_run_any<T>)) return false;
    chosen = choice;
    return true;
  };
  const auto has_multi_panel = [&](int threads) { return has_wide<T>(asked.upper, threads); };
  const bool found = (asked.routine == Routine::posv && try_posv_rows(asked, plan, take)) ||
                     try_factor_rows(asked, plan, clusters, has_multi_panel, take);
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
void check_plan(Routine routine, const Plan& plan, int64_t max_n) {
  for (int64_t n = 1; n <= std::min<int64_t>(max_n, 700); ++n)
    for (const int64_t batch : {10, 100000})
      for (int flags = 0; flags < 8; ++flags) {
        const Case asked = case_of<T>(routine, n, batch, flags);
        const ClusterPlan clusters = cluster_plan(kLetter<T>, asked.upper, n, batch, 132);
        if (!tally.count(!choose<T>(asked, plan, clusters).empty()))
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
  for (const Row& row : built_in_rows(90))
    if (row.form == Form::batch && row.precision == kLetter<T> &&
        (row.routine == Routine::potrf || row.routine == Routine::posv))
      check_plan<T>(row.routine, plan_of(row.choice), row.cases.n.most);
}
/// What is known of some cases.
void expect(int64_t n, int64_t batch, int flags, const Plan& plan, const char* wanted) {
  const Case asked = case_of<double>(Routine::potrf, n, batch, flags);
  const std::string text =
      choose<double>(asked, plan, cluster_plan('d', asked.upper, n, batch, 132));
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
  const Plan three{Method::panel, 0, 3, 96}, panels{Method::fused, 0, 0, 256};
  const char* const lower =
      "left_looking_potrf(warps=3,depth=8,blocks=4,columns=32,mma=1,options=0,bordered=0)";
  const char* const upper =
      "left_looking_potrf(warps=4,depth=16,blocks=2,columns=32,mma=1,options=5,bordered=0)";
  const char* const misaligned =
      "left_looking_potrf(warps=2,depth=16,blocks=5,columns=32,mma=1,options=0,bordered=0)";
  expect(500, 100000, 0, three, lower);
  expect(500, 100000, 1, three, upper);
  expect(500, 100000, 3, {Method::panel, 0, 4, 96}, misaligned);
  expect(500, 10, 0, three, "cluster_potrf(threads=256,blocks=8,paired=0)");
  expect(700, 100000, 0, panels, "multi_panel_potrf(threads=256)");
  expect(48, 100000, 1, {Method::panel, 0, 12, 32}, "register_potrf(lanes=0)");
  expect(65, 100000, 0, {Method::panel, 0, 12, 32},
         "left_looking_potrf(warps=1,depth=8,blocks=12,columns=16,mma=1,options=9,bordered=1)");
  return tally.report();
}
