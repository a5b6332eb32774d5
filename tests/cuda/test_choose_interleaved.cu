// Choices for interleaved batches: every built kernel is named by a row or marked for the tuner,
// every row names a method of a family and a built kernel, and every case has a row. Needs no
// device. Usage: test_choose_interleaved FOLDER, that of cuda/interleaved.
#include <cstdio>
#include <string>
#include <string_view>

#include "instance_lines.hpp"
#include "interleaved/jit/accepts.hpp"
#include "interleaved/method.hpp"
#include "tally.hpp"
#include "tune/rows.hpp"
#include "tune/store.hpp"

namespace chol::cuda {
namespace {

Tally tally;

struct Families {
  InstanceLines thread, threads, shared, warp;
};

const char* task_name(Routine routine) {
  return routine == Routine::potrf   ? "factor"
         : routine == Routine::potrs ? "solve"
                                     : "factor_and_solve";
}

/// Marks the lines of the kernels that a choice of a row may run at an order. @return whether there
/// are any, or no line is needed.
bool name_lines(Families& families, const Case& asked, const Choice& choice) {
  const char precision = asked.precision;
  const std::string_view task = task_name(asked.routine);
  bool found = false;
  const auto name = [&](InstanceLines& lines, auto&& matches) {
    lines.name_first([&](const InstanceLine& line) {
      const bool is = !found && line.cells[0][0] == precision && matches(line);
      found = found || is;
      return is;
    });
  };
  if (choice.is(kInterleavedRegisters)) {
    name(families.thread, [&](const InstanceLine& line) {
      return line.macro == "CHOL_REGISTERS_INSTANCE" && asked.n <= line.number(1);
    });
    return found;
  }
  if (choice.is(kInterleavedColumns)) {
    name(families.thread, [&](const InstanceLine& line) {
      return line.macro == "CHOL_LEFT_LOOKING_INSTANCE" && line.cells[1] == task &&
             line.number(2) <= asked.n && asked.n <= line.number(3);
    });
    name(families.threads, [&](const InstanceLine& line) {
      return line.cells[1] == task && asked.n <= line.number(2);
    });
    return found;
  }
  if (choice.is(kInterleavedShared)) {
    name(families.shared, [&](const InstanceLine& line) {
      return line.cells[1] == task && line.number(2) == choice.at(0) &&
             line.number(4) == choice.at(1) && line.number(5) == choice.at(2);
    });
    return found;
  }
  if (!choice.is(kInterleavedWarps)) return true;
  // Among those that differ only in their blocks the shared memory of the order decides.
  families.warp.name_all([&](const InstanceLine& line) {
    const bool is = line.cells[0][0] == precision &&
                    (line.cells[1] == "solve") == (task == "solve") &&
                    line.number(2) == choice.at(1) && line.number(3) == choice.at(0);
    found = found || is;
    return is;
  });
  return found;
}

/// Whether a family adds the method, for every type.
bool is_added(const Choice& choice) {
  return interleaved_methods<float>.find(choice.method->name) &&
         interleaved_methods<double>.find(choice.method->name) &&
         interleaved_methods<Complex<float>>.find(choice.method->name) &&
         interleaved_methods<Complex<double>>.find(choice.method->name);
}
/// Whether the backend implements it by other methods or without a method.
bool is_by_others(Routine routine, const Choice& choice) {
  return choice.is(kInterleavedSlices) || choice.is(kInterleavedTwoSteps) ||
         choice.is(kInterleavedPack) || routine == Routine::logdet;
}

void check_case(Families& families, const TuningStore& store, const Case& asked) {
  const Choice* const choice =
      store.rows(asked.routine, asked.form, asked.precision).choose(asked, [](const Choice&) {
        return true;
      });
  char text[160] = "no row";
  if (choice) print_choice(text, sizeof text, *choice);
  const bool good = choice && choice->is_in_range() &&
                    (is_by_others(asked.routine, *choice) || is_added(*choice)) &&
                    (!is_of_one_rhs(asked.routine, *choice) || asked.nrhs == 1) &&
                    (asked.routine > Routine::posv || name_lines(families, asked, *choice));
  if (!tally.count(good))
    std::printf("%s %c, n = %d, %d right-hand sides: %s\n", routine_name(asked.routine),
                asked.precision, int(asked.n), int(asked.nrhs), text);
}

/// Expected choices of some cases.
void expect(const TuningStore& store, Routine routine, char precision, int64_t n, int64_t nrhs,
            const char* wanted) {
  Case asked{routine, Form::interleaved, precision};
  asked.n = n;
  asked.nrhs = nrhs;
  char text[160];
  print_choice(text, sizeof text, store.rows(routine, asked.form, precision).choose(asked));
  if (!tally.count(std::string_view(text) == wanted))
    std::printf("%s %c, n = %d: %s, must be %s\n", routine_name(routine), precision, int(n), text,
                wanted);
}

}  // namespace
}  // namespace chol::cuda

int main(int count, char** arguments) {
  using namespace chol;
  using namespace chol::cuda;
  if (count != 2) return 2;
  const std::string folder = arguments[1];
  Families families{InstanceLines(folder + "/thread"), InstanceLines(folder + "/threads"),
                    InstanceLines(folder + "/shared"), InstanceLines(folder + "/warp")};
  TuningStore store;
  store.load_rows(built_in_rows(90, 132));
  for (const Routine routine : {Routine::potrf, Routine::potrs, Routine::posv, Routine::potri,
                                Routine::logdet, Routine::pack, Routine::unpack})
    for (const char precision : {'s', 'd', 'c', 'z'})
      for (int64_t n = 0; n <= 300; ++n)
        for (const int64_t nrhs : {0, 1, 2}) {
          Case asked{routine, Form::interleaved, precision};
          asked.n = n;
          asked.nrhs = nrhs;
          asked.batch = 1000;
          check_case(families, store, asked);
        }
  for (const InstanceLines* lines :
       {&families.thread, &families.threads, &families.shared, &families.warp})
    lines->check(tally);
  expect(store, Routine::potrf, 'd', 12, 0, "interleaved_registers(threads=32)");
  expect(store, Routine::potrf, 'd', 44, 0, "interleaved_columns(columns=0,threads=0)");
  expect(store, Routine::potrf, 'd', 45, 0, "interleaved_shared(columns=8,matrices=8,threads=64)");
  expect(store, Routine::posv, 'd', 104, 1, "interleaved_warps(matrices=4,warps=1)");
  expect(store, Routine::posv, 'd', 104, 2, "interleaved_two_steps");
  expect(store, Routine::potrs, 'd', 104, 2, "interleaved_warp_solve");
  expect(store, Routine::potrs, 'd', 209, 2, "interleaved_slices");
  return tally.report();
}
