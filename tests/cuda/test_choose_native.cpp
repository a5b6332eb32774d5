// Kernels of one matrix on the device: every built kernel is named by a row or marked for the
// tuner, and every row names built kernels. Needs no device. Usage: test_choose_native FOLDER, that
// of cuda/native.
#include <cstdio>
#include <string>

#include "instance_lines.hpp"
#include "native/knobs.hpp"
#include "native/solve/config.hpp"
#include "native/solve/params.hpp"
#include "tally.hpp"
#include "tune/rows.hpp"

namespace chol::cuda {
namespace {

Tally tally;

struct Families {
  InstanceLines persistent, update, blocked, solve;
};

template <class Matches>
bool name(InstanceLines& lines, Matches&& matches) {
  bool found = false;
  lines.name_all([&](const InstanceLine& line) {
    const bool is = matches(line);
    found = found || is;
    return is;
  });
  return found;
}

/// Diagonal blocks and the rows below them: the leaves used if no kernel factors a full panel.
bool name_leaves(Families& families, char precision, int threads) {
  bool found = false;
  const bool has_diagonal = name(families.blocked, [&](const InstanceLine& line) {
    const bool is = !found && line.is("CHOL_PANEL_INSTANCE", precision) &&
                    (threads == 0 || 32 * line.number(1) == threads);
    found = found || is;
    return is;
  });
  return name(
             families.blocked,
             [&](const InstanceLine& line) { return line.is("CHOL_STRIP_INSTANCE", precision); }) &&
         has_diagonal;
}

template <class T>
bool name_factorization(Families& families, const Row& row) {
  const auto params = native::Params::of(row.choice);
  const auto is_of_it = [&](const InstanceLine& line) {
    return line.is("CHOL_INSTANCE", row.precision);
  };
  if (!params.is_valid() || !name_leaves(families, row.precision, params.leaf_threads))
    return false;
  if (row.choice.is(kRecursivePotrf)) return true;
  // The row of the largest orders is also used for several devices, which update panels.
  const bool updates = params.panel > 0 || row.cases.n.most == Range{}.most;
  if (updates && !params.blas_updates && !name(families.update, is_of_it)) return false;
  return name(families.persistent, [&](const InstanceLine& line) {
    return is_of_it(line) && params.groups <= line.number(5);
  });
}

/// For all numbers of right-hand sides that a row assigns to the kernel.
template <class T>
bool name_solve(Families& families, const Row& row) {
  const auto params = solve::Params::of(row.choice);
  bool all = params.is_valid();
  for (int64_t nrhs = 1; nrhs <= params.few; ++nrhs)
    all = name(families.solve,
               [&](const InstanceLine& line) {
                 const int link = params.link_of(nrhs);
                 return line.is("CHOL_INSTANCE", row.precision) && line.number(3) == link &&
                        line.number(2) == solve::kernel_columns(solve::Shapes<T>{}, nrhs, link);
               }) &&
          all;
  return all;
}

template <class T>
void check_rows(Families& families, int capability) {
  for (const Row& row : built_in_rows(capability, 132)) {
    if (row.precision != kLetter<T>) continue;
    const bool factors = row.choice.is(kPersistentPotrf) || row.choice.is(kRecursivePotrf);
    if (!factors && !row.choice.is(kOneSolve)) continue;
    if (tally.count(factors ? name_factorization<T>(families, row) : name_solve<T>(families, row)))
      continue;
    char text[160];
    print_choice(text, sizeof text, row.choice);
    std::printf("%s %c: no kernel is built for %s\n", routine_name(row.routine), row.precision,
                text);
  }
}

}  // namespace
}  // namespace chol::cuda

int main(int count, char** arguments) {
  using namespace chol::cuda;
  if (count != 2) return 2;
  const std::string folder = arguments[1];
  Families families{InstanceLines(folder + "/persistent"), InstanceLines(folder + "/update"),
                    InstanceLines(folder + "/blocked"), InstanceLines(folder + "/solve")};
  for (const int capability : {80, 90}) {
    check_rows<float>(families, capability);
    check_rows<double>(families, capability);
    check_rows<Complex<float>>(families, capability);
    check_rows<Complex<double>>(families, capability);
  }
  for (const InstanceLines* lines :
       {&families.persistent, &families.update, &families.blocked, &families.solve})
    lines->check(tally);
  // Fails for a new family, which must be added here.
  tally.count(families_but(folder, {"persistent", "update", "blocked", "solve"}).empty());
  return tally.report();
}
