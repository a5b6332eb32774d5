// Choices for solves of batches: every built kernel is named by a row or marked for the tuner,
// every row names a built kernel and serves some case, and every case has a method that accepts it.
// Needs no device. Usage: test_choose_solve FOLDER, that of cuda/batched.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "batched/solve/choose.hpp"
#include "instance_lines.hpp"
#include "tally.hpp"
#include "tune/rows.hpp"

namespace chol::cuda {
namespace {

Tally tally;
constexpr DeviceLimits kHopper{227 * 1024, 2}, kSlowDouble{227 * 1024, 64};

/// The lines of the families that solve.
struct Families {
  InstanceLines registers, block, tile;
  std::vector<InstanceLines> others;  ///< whose lines are the parameters of a choice
};

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

void name_block(InstanceLines& lines, char precision, const Params& named) {
  const auto params = BlockSolveParams::of(named);
  lines.name_first([&](const InstanceLine& line) {
    return line.cells[0][0] == precision &&
           BlockSolveParams{line.number(1), line.number(2), line.number(3), line.number(4),
                            line.number(5), line.number(6), line.number(7)} == params;
  });
}
/// Marks the line of the kernel that runs.
void name_line(Families& families, const Case& asked, const SolveChoice& choice) {
  const std::string_view method = choice.method;
  const char precision = asked.precision;
  const int lanes = choice.params.of("lanes");
  if (method == solve::kBlock) name_block(families.block, precision, choice.params);
  if (method == solve::kTile)
    families.tile.name_first([&](const InstanceLine& line) {
      return line.is("CHOL_INSTANCE", precision) && line.number(1) == (asked.nrhs == 1) &&
             asked.n <= 8 * line.number(2);
    });
  // Lines for one right-hand side are after the others in the file and are tried first in a launch.
  bool found = false;
  const auto name_register = [&](const char* macro, const char* task, size_t order) {
    families.registers.name_first([&](const InstanceLine& line) {
      const bool matches = !found && line.is(macro, precision) &&
                           (order == 1 || line.cells[1] == task) && asked.n <= line.number(order) &&
                           (order != 3 || asked.n >= line.number(2)) &&
                           (lanes == 0 || lanes == line.number(order + 1));
      found = found || matches;
      return matches;
    });
  };
  if (method == solve::kRegisterGrid) name_register("CHOL_GRID_INSTANCE", "solve_one", 3);
  if (method == solve::kRegister) {
    if (asked.nrhs == 1) name_register("CHOL_ONE_RHS_INSTANCE", "", 1);
    name_register("CHOL_INSTANCE", "solve", 2);
  }
  for (InstanceLines& other : families.others)
    other.name_first([&](const InstanceLine& line) {
      return line.is("CHOL_INSTANCE", precision) && line.has(choice.params);
    });
}

template <class T>
void check_row(const SolveRow& row, const SolveRows& rows) {
  bool built = false, serves = false;
  const BatchMethod<T>& method = *batch_methods<T>.find(row.method);
  for_each_case<T>(352, [&](Case asked) {
    asked.nrhs = row.params.of("rhs");
    built = built || method.accepts(asked, row.params, kHopper);
  });
  for_each_case<T>(352, [&](const Case& asked) {
    for (const DeviceLimits& device : {kHopper, kSlowDouble})
      serves =
          serves || (row.has(asked) && choose_solve<T>(asked, rows, device).params == row.params);
  });
  if (!tally.count(built && serves && row.params.are_of(method.knobs)))
    std::printf("%c: the row of the kernel of order %d: built %d, serves %d\n", kLetter<T>,
                row.params.of("order"), built, serves);
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
/// The first row that has a case and whose method accepts it, or that is of one matrix.
template <class T>
const Choice* choose(const Case& asked, const RowTable& table, const DeviceLimits& device) {
  return table.choose(asked, [&](const Choice& its) {
    return !solves_batches(its) ||
           batch_methods<T>.find(its.method->name)->accepts(asked, params_of(its), device);
  });
}
template <class T>
void check_table(Families& families, Form form) {
  const RowTable table = built_in<T>(form);
  for_each_case<T>(400, [&](Case asked) {
    for (const int64_t batch : {1, 263, 264})
      for (const DeviceLimits& device : {kHopper, kSlowDouble}) {
        asked.batch = batch;
        const Choice* const choice = choose<T>(asked, table, device);
        if (!tally.count(choice))
          std::printf("%c, n = %d, %d right-hand sides: no row\n", kLetter<T>, int(asked.n),
                      int(asked.nrhs));
        if (!choice || !solves_batches(*choice)) continue;
        const SolveChoice chosen = choose_solve<T>(asked, table, device);
        const BatchMethod<T>* const method = batch_methods<T>.find(chosen.method);
        if (!tally.count(chosen.method == std::string_view(choice->method->name) &&
                         chosen.params == params_of(*choice) &&
                         chosen.params.are_of(method->knobs)))
          std::printf("%c, n = %d, %d right-hand sides: not as %s\n", kLetter<T>, int(asked.n),
                      int(asked.nrhs), chosen.method);
        name_line(families, asked, chosen);
      }
  });
}
/// Expected choices of some cases.
template <class T>
void expect(Case asked, const char* wanted) {
  asked.batch = 100000;
  const SolveChoice choice = choose_solve<T>(asked, built_in<T>(Form::batch), kHopper);
  char text[160];
  print_method(text, sizeof text, choice.method, choice.params);
  if (!tally.count(std::string_view(text) == wanted))
    std::printf("n = %d, %d right-hand sides: %s, must be %s\n", int(asked.n), int(asked.nrhs),
                text, wanted);
}

template <class T>
void check_all(Families& families) {
  SolveRows of_one, of_several;
  add_block_rows(of_one, kLetter<T>, {1, 1});
  add_block_rows(of_several, kLetter<T>, {2, 16});
  for (const SolveRows& rows : {of_one, of_several})
    for (const SolveRow& row : rows) {
      check_row<T>(row, rows);
      name_block(families.block, kLetter<T>, row.params);
    }
  for (const Form form : {Form::one, Form::batch}) check_table<T>(families, form);
  for_each_case<T>(kWarpSolveOrder, [&](const Case& asked) {
    name_line(families, asked, choose_solve<T>(asked, solve_rows_of_posv(kLetter<T>), kHopper));
  });
  for_each_case<T>(400, [&](const Case& asked) {
    if (asked.nrhs == 1)
      name_line(families, asked, choose_solve<T>(asked, solve_rows_of_pocon(kLetter<T>), kHopper));
  });
}

}  // namespace
}  // namespace chol::cuda

int main(int count, char** arguments) {
  using namespace chol;
  using namespace chol::cuda;
  if (count != 2) return 2;
  const std::string folder = arguments[1];
  Families families{InstanceLines(folder + "/register"), InstanceLines(folder + "/solve/block"),
                    InstanceLines(folder + "/solve/tile"),
                    families_but(folder + "/solve", {"block", "tile"})};
  check_all<float>(families);
  check_all<double>(families);
  check_all<Complex<float>>(families);
  check_all<Complex<double>>(families);
  families.registers.check(tally, [](const InstanceLine& line) {
    return line.macro == "CHOL_ONE_RHS_INSTANCE" || line.cells[1].starts_with("solve");
  });
  families.block.check(tally);
  families.tile.check(tally);
  for (const InstanceLines& other : families.others) other.check(tally);
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
