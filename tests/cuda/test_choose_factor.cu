// Choices for factorizations of batches: every built kernel is named by a row or marked for the
// tuner, every row names a built kernel, and every case of every built-in row has an accepted
// choice. Needs no device. Usage: test_choose_factor FOLDER, that of cuda/batched.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "batched/choose_factor.hpp"
#include "instance_lines.hpp"
#include "tally.hpp"
#include "tune/rows.hpp"

namespace chol::cuda {
namespace {

Tally tally;
constexpr DeviceLimits kHopper{227 * 1024, 2}, kSlowDouble{227 * 1024, 64};

/// The lines of the families that factor.
struct Families {
  InstanceLines registers, left_looking, multi_panel, cluster;
  std::vector<InstanceLines> others;  ///< whose lines are the parameters of a choice
};

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
/// The first choice; without a method if there is none.
template <class T>
FactorChoice choose(const Case& asked, const Choice& row, const DeviceLimits& device = kHopper) {
  FactorChoice chosen;
  const auto take = [&](const FactorChoice& choice) {
    chosen = choice;
    return true;
  };
  if (asked.routine != Routine::posv || !try_posv_choices<T>(asked, row, device, take))
    try_factor_choices<T>(asked, row, device, take);
  return chosen;
}

/// Marks the line of the kernel that runs.
void name_line(Families& families, const Case& asked, const FactorChoice& choice,
               const DeviceLimits& device) {
  const std::string_view method = choice.method;
  const char precision = asked.precision;
  const bool tensor = precision == 'd' || precision == 'z' || device.single_over_double <= 2;
  const int threads = choice.params.of("threads"), lanes = choice.params.of("lanes");
  const auto name_register = [&](const char* macro, const char* task, size_t order) {
    families.registers.name_first([&](const InstanceLine& line) {
      return line.is(macro, precision) && line.cells[1] == task && asked.n <= line.number(order) &&
             (order == 2 || asked.n >= line.number(2)) &&
             (lanes == 0 || lanes == line.number(order + 1));
    });
  };
  if (method == factor::kRegister) name_register("CHOL_INSTANCE", "factor", 2);
  if (method == factor::kRegisterPosv) name_register("CHOL_INSTANCE", "factor_and_solve", 2);
  if (method == factor::kRegisterGridPosv)
    name_register("CHOL_GRID_INSTANCE", "factor_and_solve_one", 3);
  if (method == factor::kVbatchedRegister)
    families.registers.name_first(
        [&](const InstanceLine& line) { return line.is("CHOL_VBATCHED_INSTANCE", precision); });
  const auto has_threads = [&](const InstanceLine& line) {
    return line.is("CHOL_INSTANCE", precision) && line.has_triangle(1, asked.upper) &&
           32 * line.number(2) == threads;
  };
  if (method == factor::kCluster && tensor) families.cluster.name_first(has_threads);
  if (method == factor::kMultiPanel)
    families.multi_panel.name_first([&](const InstanceLine& line) {
      return has_threads(line) && (tensor || line.number(8) == 0);
    });
  for (InstanceLines& other : families.others)
    other.name_first([&](const InstanceLine& line) {
      return line.is("CHOL_INSTANCE", precision) && line.has(choice.params);
    });
}
void name_left_looking(InstanceLines& lines, const LeftLookingRow& row) {
  lines.name_first([&](const InstanceLine& line) {
    return line.cells[0][0] == row.precision && line.has_triangle(1, row.upper) &&
           LeftLookingParams{line.number(2), line.number(3),      line.number(4),
                             line.number(5), line.number(6) != 0, line.number(7)} == row.params;
  });
}

/// Every row names a kernel that is built.
template <class T>
void check_rows(InstanceLines& lines) {
  for (const LeftLookingRow& row : left_looking_rows())
    if (row.precision == kLetter<T>) {
      name_left_looking(lines, row);
      const bool bordered = row.columns == Columns::bordered;
      Case asked{Routine::potrf, Form::batch, kLetter<T>, row.upper};
      asked.n = 33;
      const FactorChoice choice{factor::kLeftLooking, row.params.params(bordered)};
      if (!tally.count(accepts_choice<T>(asked, choice, kHopper)))
        std::printf("%c, upper %d: the kernel of %d warps, %d blocks is not built\n", kLetter<T>,
                    row.upper, row.plan_warps, row.plan_blocks);
    }
}
/// @param row whose choice factors, and solves if it can.
template <class T>
void check_row(Families& families, const Row& row) {
  const auto check = [&](Case asked, int64_t nrhs, const DeviceLimits& device) {
    asked.nrhs = nrhs;
    if (!row.cases.has(asked)) return;
    const FactorChoice choice = choose<T>(asked, row.choice, device);
    const BatchMethod<T>* const method = batch_methods<T>.find(choice.method);
    if (!tally.count(method && choice.params.are_of(method->knobs)))
      std::printf("%c, n = %d: no method factors\n", kLetter<T>, int(asked.n));
    name_line(families, asked, choice, device);
  };
  const Range& orders = row.cases.n;
  for (int64_t n = std::max<int64_t>(orders.least, 1); n <= std::min<int64_t>(orders.most, 1200);
       n += n < 700 ? orders.step : 50)
    for (const int64_t batch : {10, 60, 80, 130, 100000})
      for (int flags = 0; flags < 8; ++flags) {
        const Case asked = case_of<T>(row.routine, n, batch, flags);
        check(asked, asked.nrhs, kHopper);
        check(asked, asked.nrhs, kSlowDouble);
        if (row.routine == Routine::posv) check(asked, 2, kHopper);
      }
}
template <class T>
void check_all(Families& families) {
  check_rows<T>(families.left_looking);
  for (const Row& row : built_in_rows(90, 132))
    if (row.form == Form::batch && row.precision == kLetter<T> && !is_native(row.choice) &&
        (row.routine == Routine::potrf || row.routine == Routine::posv))
      check_row<T>(families, row);
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
  const auto expect = [](const Case& asked, const std::string& wanted) {
    if (!tally.count(built_in(asked) == wanted))
      std::printf("n = %d, batch %d: %s, must be %s\n", int(asked.n), int(asked.batch),
                  built_in(asked).c_str(), wanted.c_str());
  };
  const auto potrf = [](int64_t n, int64_t batch, int flags) {
    return case_of<double>(Routine::potrf, n, batch, flags);
  };
  const std::string plain = ",cluster_threads=0,cluster_blocks=0,bordered=0)";
  expect(potrf(500, 100000, 0), "left_looking_potrf(warps=3,blocks=3,in_order=0" + plain);
  expect(potrf(500, 264, 0), "left_looking_potrf(warps=3,blocks=3,in_order=0" + plain);
  expect(potrf(500, 132, 0), "left_looking_potrf(warps=3,blocks=3,in_order=0" + plain);
  expect(potrf(500, 131, 0), "left_looking_potrf(warps=8,blocks=0,in_order=1" + plain);
  expect(potrf(500, 1, 4),
         "left_looking_potrf(warps=8,blocks=0,in_order=1,cluster_threads=256,cluster_blocks=8,"
         "bordered=0)");
  expect(potrf(48, 100000, 1), "register_potrf(lanes=0,in_order=0)");
  expect(potrf(65, 100000, 0),
         "left_looking_potrf(warps=1,blocks=12,in_order=0,cluster_threads=0,cluster_blocks=0,"
         "bordered=1)");
  expect(potrf(500, 1, 0),
         "persistent_potrf(panel=0,groups=1,leaf_threads=128,blas_updates=0,whole_square=1024)");
  expect(potrf(130, 263, 0), "left_looking_potrf(warps=8,blocks=24,in_order=1" + plain);
  expect(potrf(700, 131, 0), "multi_panel_potrf(threads=256,upper_threads=0,in_order=0" + plain);
  expect(potrf(20, 264, 4), "vbatched_register_potrf");
  expect(potrf(20, 263, 4), "register_potrf(lanes=0,in_order=1)");
  expect(potrf(20, 264, 0), "register_potrf(lanes=0,in_order=0)");
  expect(potrf(40, 264, 4), "left_looking_potrf(warps=1,blocks=12,in_order=0" + plain);
  Case posv = case_of<double>(Routine::posv, 550, 100000, 0);
  expect(posv, "left_looking_posv(warps=4,blocks=4,in_order=0" + plain);
  posv.nrhs = 2;  // factors by the rows of potrf
  expect(posv, "left_looking_potrf(warps=3,blocks=3,in_order=0" + plain);
}
/// Expected choices of some cases.
void expect(int64_t n, int64_t batch, int flags, const Choice& row, const char* wanted) {
  const Case asked = case_of<double>(Routine::potrf, n, batch, flags);
  const FactorChoice choice = choose<double>(asked, row);
  char text[160];
  print_method(text, sizeof text, choice.method, choice.params);
  if (!tally.count(std::string_view(text) == wanted))
    std::printf("n = %d, batch %d: %s, must be %s\n", int(n), int(batch), text, wanted);
}

}  // namespace
}  // namespace chol::cuda

int main(int count, char** arguments) {
  using namespace chol;
  using namespace chol::cuda;
  if (count != 2) return 2;
  const std::string folder = arguments[1];
  Families families{InstanceLines(folder + "/register"), InstanceLines(folder + "/left_looking"),
                    InstanceLines(folder + "/multi_panel"), InstanceLines(folder + "/cluster"),
                    families_but(folder, {"register", "left_looking", "multi_panel", "cluster"})};
  check_all<float>(families);
  check_all<double>(families);
  check_all<Complex<float>>(families);
  check_all<Complex<double>>(families);
  families.registers.check(tally, [](const InstanceLine& line) {
    return line.macro == "CHOL_VBATCHED_INSTANCE" || line.cells[1].starts_with("factor");
  });
  families.left_looking.check(tally);
  families.multi_panel.check(tally);
  families.cluster.check(tally);
  for (const InstanceLines& other : families.others) other.check(tally);
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
  Choice by_clusters = three, bordered = left_looking(1, 12);
  by_clusters.set("cluster_threads", 256);
  by_clusters.set("cluster_blocks", 8);
  bordered.set("bordered", 1);
  expect(500, 10, 0, by_clusters, "cluster_potrf(threads=256,blocks=8,paired=0)");
  expect(700, 100000, 0, panels, "multi_panel_potrf(threads=256)");
  expect(65, 100000, 0, bordered,
         "left_looking_potrf(warps=1,depth=8,blocks=12,columns=16,mma=1,options=9,bordered=1)");
  return tally.report();
}
