// The environment variables, each tested in a separate process.
#include "base/environment.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace chol::test {
namespace {

/// Output of the probe, including stderr, with these variables in addition to the inherited ones.
std::string probe(const std::string& variables, const std::string& arguments = "") {
  const std::string command =
      "env -u CHOL_BACKEND " + variables + " " CHOL_TEST_PROBE " " + arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  char part[256];
  while (pipe && std::fgets(part, sizeof part, pipe)) output += part;
  EXPECT_EQ(pclose(pipe), 0) << output;
  return output;
}

bool has(const std::string& output, const std::string& text) {
  return output.find(text) != std::string::npos;
}

TEST(Environment, NumThreads) {
  EXPECT_TRUE(has(probe("CHOL_NUM_THREADS=3"), "threads: 3\n"));
  const std::string by_default = probe("-u CHOL_NUM_THREADS OMP_NUM_THREADS=2");
  EXPECT_TRUE(has(by_default, "threads: 2\n")) << by_default;
  EXPECT_TRUE(has(probe("OMP_NUM_THREADS=2 CHOL_NUM_THREADS=0"), "threads: 2\n"));
}

/// Without a device nothing changes.
TEST(Environment, Offload) {
  for (const char* value : {"never", "auto", "ALWAYS"}) {
    const std::string output =
        probe(std::string("CHOL_CUDA_PLUGIN=/nowhere/plugin.so CHOL_OFFLOAD=") + value);
    EXPECT_TRUE(has(output, "potrf: CHOL_STATUS_SUCCESS 0 2\n")) << output;
    EXPECT_FALSE(has(output, "# chol:")) << output;
  }
}

/// The existence of devices is checked when one is needed.
TEST(Environment, Devices) {
  for (const char* value : {"0", "0,1,0", "63,7"}) {
    const std::string output =
        probe(std::string("CHOL_CUDA_PLUGIN=/nowhere/plugin.so CHOL_DEVICES=") + value);
    EXPECT_TRUE(has(output, "potrf: CHOL_STATUS_SUCCESS 0 2\n")) << output;
  }
  std::string many = "0";
  for (int d = 1; d < kMostDevices; ++d) many += ",0";
  EXPECT_TRUE(has(probe("CHOL_DEVICES=" + many), "create: CHOL_STATUS_SUCCESS\n"));
  EXPECT_TRUE(has(probe("CHOL_DEVICES=" + many + ",0"), "create: CHOL_STATUS_INVALID_VALUE\n"));
}

/// Every variable that libchol.so reads and whose values are not names of files.
TEST(Environment, InvalidValuesAreRefused) {
  const struct {
    const char* name;
    std::vector<const char*> values;
  } kMisread[] = {
      {"CHOL_BACKEND", {"abacus", "host,cuda", "hosts", "0"}},
      {"CHOL_NUM_THREADS",
       {"-4", "many", "1e3", "1.5", "2x", "' 2'", "+2", "0x10", "65537", "99999999999"}},
      {"CHOL_OFFLOAD", {"sometimes", "1", "alway"}},
      {"CHOL_DEVICES", {"-1", "two", "0,", "0,,1", ",", "1.5", "'0 1'", "99999999999"}},
      {"CHOL_MATH", {"2", "exact", "tensors"}},
      {"CHOL_VERBOSE", {"2", "maybe", "-1"}},
      {"CHOL_HOST_ISA", {"sse2", "avx", "avx512f"}},
  };
  for (const auto& [name, values] : kMisread)
    for (const std::string value : values) {
      const std::string output = probe(name + ("=" + value));
      EXPECT_TRUE(has(output, "create: CHOL_STATUS_INVALID_VALUE\n")) << name << value << output;
      const std::string plain = std::regex_replace(value, std::regex("'"), "");
      EXPECT_TRUE(has(output, "message: " + (name + (" = " + plain)) + ", must be ")) << output;
    }
}

TEST(Environment, AnEmptyVariableIsUnset) {
  for (const Variable& variable : variables()) {
    const std::string output = probe(std::string(variable.name) + "=");
    EXPECT_EQ(output, probe(std::string("-u ") + variable.name));
    EXPECT_TRUE(has(output, "create: CHOL_STATUS_SUCCESS\n")) << variable.name << output;
  }
}

TEST(Environment, LettersOfEitherCase) {
  EXPECT_EQ(probe("CHOL_HOST_ISA=Portable"), probe("CHOL_HOST_ISA=portable"));
  EXPECT_TRUE(has(probe("CHOL_HOST_ISA=PORTABLE"), "backend: host portable\n"));
  EXPECT_TRUE(has(probe("CHOL_BACKEND=HOST"), "create: CHOL_STATUS_SUCCESS\n"));
  EXPECT_TRUE(has(probe("CHOL_VERBOSE=ON"), "chol-bench"));
  uint32_t routines = 0;
  EXPECT_TRUE(read_routines("DPOTRF, Posv", &routines));
  EXPECT_EQ(routines, selection_bit(Family::potrf, 'd') | 0xfu << 8);
}

TEST(Environment, RoutinesOfThePreload) {
  uint32_t routines = 7;
  for (const char* list : {"offf", "cholesky", "dpotrf,foo", "potrf2", ",", "dpotrf dpotrf,x"}) {
    EXPECT_FALSE(read_routines(list, &routines)) << list;
    EXPECT_EQ(routines, 7u);
  }
  EXPECT_TRUE(read_routines("off", &routines));
  EXPECT_EQ(routines, 0u);
  EXPECT_TRUE(read_routines("on", &routines));
  EXPECT_EQ(routines, kEveryRoutine);
  EXPECT_TRUE(read_routines("spotri,,zpotrs ", &routines));
  EXPECT_EQ(routines, selection_bit(Family::potri, 's') | selection_bit(Family::potrs, 'z'));
}

/// A line of Markdown without markup: `code`, [text](link).
std::string plain(const std::string& line) {
  const std::string code = std::regex_replace(line, std::regex("`"), "");
  return std::regex_replace(code, std::regex("\\[([^\\]]*)\\]\\([^)]*\\)"), "$1");
}

TEST(Environment, TheSettingsPageHasTheTable) {
  std::ifstream settings(CHOL_TEST_SETTINGS);
  std::vector<std::string> rows;
  for (std::string line; std::getline(settings, line);)
    if (const std::string row = plain(line);
        row.rfind("| CHOL_", 0) == 0 && std::count(row.begin(), row.end(), '|') == 5)
      rows.push_back(row);
  ASSERT_EQ(rows.size(), variables().size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const Variable& v = variables()[i];
    EXPECT_EQ(rows[i], std::string("| ") + v.name + " | " + v.values + " | " + v.otherwise + " | " +
                           v.meaning + " |");
  }
}

TEST(Environment, Backend) {
  EXPECT_TRUE(has(probe("CHOL_BACKEND=host"), "create: CHOL_STATUS_SUCCESS\n"));
  const std::string unknown = probe("CHOL_BACKEND=abacus");
  EXPECT_TRUE(has(unknown, "create: CHOL_STATUS_INVALID_VALUE\n")) << unknown;
  EXPECT_TRUE(has(unknown, "CHOL_BACKEND = abacus, must be host or cuda")) << unknown;
  const std::string missing = probe("CHOL_BACKEND=cuda CHOL_CUDA_PLUGIN=/nowhere/plugin.so");
  EXPECT_TRUE(has(missing, "create: CHOL_STATUS_NO_DEVICE\n")) << missing;
  EXPECT_TRUE(has(missing, "/nowhere/plugin.so")) << missing;
}

/// One line a call, which is a chol-bench command line with a comment.
TEST(Environment, Verbose) {
  EXPECT_FALSE(has(probe("CHOL_VERBOSE=0"), "chol-bench"));
  EXPECT_FALSE(has(probe("-u CHOL_VERBOSE"), "chol-bench"));
  const std::string output = probe("CHOL_VERBOSE=1");
  const std::string tail =
      "  # host [^,]+, [a-z_]+\\([a-z_0-9=,]+\\), 1 thread, [0-9.]+ ms, [0-9.]+ Gflop/s";
  EXPECT_TRUE(std::regex_search(
      output, std::regex("chol-bench --function chol_dpotrf --uplo L --n 20 --nrhs 0 --lda 20 "
                         "--batch 1" +
                         tail)))
      << output;
  EXPECT_TRUE(std::regex_search(
      output, std::regex("chol-bench --function chol_dpotrf_strided_batched --uplo U --n 20 "
                         "--nrhs 0 --lda 20 --batch 3" +
                         tail)))
      << output;
}

std::string backend_of_this_machine() {
  std::smatch match;
  const std::string output = probe("CHOL_BACKEND=host");
  EXPECT_TRUE(std::regex_search(output, match, std::regex("backend: (.*)\n")));
  return match[1];
}

class TuningFile : public testing::Test {
 protected:
  /// The probe's output with this file as CHOL_TUNING.
  std::string with(const std::string& text) {
    std::ofstream(path_) << text;
    return probe("CHOL_BACKEND=host CHOL_VERBOSE=1 CHOL_TUNING=" + path_);
  }
  std::string with_rows(const std::string& rows) {
    return with("{\"version\": 2, \"machines\": {\n\"" + backend_of_this_machine() + "\": [\n" +
                rows + "]}}");
  }
  /// @param orders "[1, 8]"
  static std::string row(const std::string& form, const std::string& orders,
                         const std::string& method) {
    return "{\"routine\": \"potrf\", \"form\": \"" + form +
           "\", \"precision\": \"d\", \"n\": " + orders + ", \"method\": \"" + method + "\"" +
           (method.ends_with("tiles") ? ", \"params\": {\"nb\": 64}}" : "}");
  }
  void TearDown() override { std::remove(path_.c_str()); }

  const std::string path_ =
      testing::TempDir() + "chol_tuning_" + std::to_string(getpid()) + ".json";
};

constexpr char kEveryOrder[] = "[0]";

TEST_F(TuningFile, RowsAreUsed) {
  const std::string output =
      with_rows(row("one", kEveryOrder, "tiles") + "," + row("batch", kEveryOrder, "panel"));
  EXPECT_TRUE(
      std::regex_search(output, std::regex("chol_dpotrf --.*, tiles\\(nb=64,few_rhs=0\\), ")))
      << output;
  EXPECT_TRUE(std::regex_search(
      output, std::regex("chol_dpotrf_strided_batched --.*, panel\\(few_rhs=0\\), ")))
      << output;
  EXPECT_TRUE(has(output, "potrf: CHOL_STATUS_SUCCESS 0 2\n")) << output;
  EXPECT_TRUE(has(output, "batch: CHOL_STATUS_SUCCESS 0 2\n")) << output;
}

/// A file may contain everything that built-in rows do.
TEST_F(TuningFile, LanesTakeTheirKnobs) {
  const std::string rest = "\", \"form\": \"batch\", \"precision\": \"d\", \"method\": \"lanes\", ";
  const std::string output =
      with_rows("{\"routine\": \"potrf" + rest +
                "\"n\": [0, 160], \"params\": {\"whole_groups_above\": 16}},{\"routine\": \"potrs" +
                rest + "\"n\": [0, 128], \"nrhs\": [0, 64], \"params\": {}}");
  EXPECT_TRUE(has(output, "create: CHOL_STATUS_SUCCESS\n")) << output;
  EXPECT_TRUE(std::regex_search(
      output, std::regex("chol_dpotrf_strided_batched --.*, lanes\\(whole_groups_above=16\\), ")))
      << output;
  const std::string too_large = with_rows(row("batch", "[0, 257]", "lanes"));
  EXPECT_TRUE(has(too_large, "row 1: this backend cannot run lanes this way for all")) << too_large;
}

TEST_F(TuningFile, BlasTilesNeedABlas) {
  const std::string output = with_rows(row("one", kEveryOrder, "blas_tiles"));
  const char* const expected = CHOL_TEST_BLAS
                                   ? "chol_dpotrf --.*, blas_tiles\\("
                                   : "row 1: this backend cannot run blas_tiles this way";
  EXPECT_TRUE(std::regex_search(output, std::regex(expected))) << output;
}

TEST_F(TuningFile, RowsOfAnotherMachineAreNot) {
  EXPECT_TRUE(has(with("{\"version\": 2, \"machines\": {\"abacus\": [" +
                       row("one", "[0, 10]", "fused") + "]}}"),
                  "create: CHOL_STATUS_SUCCESS\n"));
}

TEST_F(TuningFile, BrokenFilesAreRefusedWithTheReason) {
  const std::string good = row("one", "[0, 100]", "panel");
  const auto replaced = [&](const std::string& what, const std::string& by) {
    std::string text = good;
    return text.replace(text.find(what), what.size(), by);
  };
  const std::string precision = "\"precision\": \"d\", ";
  const std::string residues =
      "{\"precision\": \"d\", \"least_n\": 9, \"panel\": 128, \"native_columns\": 0}";
  const struct {
    std::string rows, reason;
  } kFaults[] = {
      {replaced("potrf", "getrf"),
       "line 3, row 1: \"routine\" is \"getrf\", must be potrf, potrs, posv, potri, "},
      {replaced("\"one\"", "\"two\""),
       "line 3, row 1: \"form\" is \"two\", must be one, batch or interleaved"},
      {replaced("panel", "magic"),
       "line 3, row 1: \"method\" is \"magic\", must be lanes, interleaved_lanes, "},
      {replaced("\"d\"", "\"q\""), "line 3, row 1: \"precision\" is \"q\", must be s, d, c or z"},
      {replaced("\"d\"", "\"sd\""), "line 3, row 1: \"precision\" is \"sd\", must be s, d, c or z"},
      {replaced("\"d\"", "7"), "line 3, row 1: \"precision\" is 7, must be s, d, c or z"},
      {replaced(precision, ""), "line 3, row 1: \"precision\" is missing"},
      {replaced("[0, 100]", "\"many\""),
       "line 3, row 1: \"n\" is \"many\", must be [least, most], [least] or [least, most, step]"},
      {replaced("100", "1e3"), "line 3, row 1: \"n\" is 1000.0, must be an integer from 0 to "},
      {replaced("100", "9223372036854775808"), "line 3, row 1: \"n\" is 9223372036854775808, "},
      {replaced("[0, 100]", "[7, 6]"), "line 3, row 1: \"n\" is [7,6], must be ascending"},
      {replaced("[0, 100]", "[]"), "line 3, row 1: \"n\" is [], must be [least, most], [least] or"},
      {replaced("[0, 100]", "[0, 100, 0]"), "line 3, row 1: \"n\" is [0,100,0], must be of a step"},
      {replaced(precision, precision + "\"upper\": 1, "),
       "line 3, row 1: \"upper\" is 1, must be true or false"},
      {replaced(precision, precision + "\"params\": {\"few_rhs\": -1}, "),
       "line 3, row 1: \"few_rhs\" is -1, must be an integer from 0 to 2147483647"},
      {replaced(precision, precision + "\"params\": {\"tile\": 1}, "),
       "line 3, row 1: \"tile\" is not a parameter of panel"},
      {replaced(precision, precision + "\"params\": 3, "),
       "line 3, row 1: \"params\" is 3, must be an object"},
      {"{\"routine\": \"potrf\", \"form\": \"interleaved\", \"precision\": \"d\", \"n\": [0, 9], "
       "\"method\": \"interleaved_lanes\", \"params\": {\"register_tile\": 5}}",
       "line 3, row 1: \"register_tile\" is 5, must be 0 to 4: rows and columns of a register "
       "tile"},
      {replaced(precision, precision + "\"treads\": 8, "),
       "line 3, row 1: \"treads\" is not a member of a row"},
      {replaced("potrf", "pack"), "line 3, row 1: this backend cannot run panel this way"},
      {row("batch", kEveryOrder, "lanes"),
       "line 3, row 1: this backend cannot run lanes this way for all"},
      {good + ",\n7", "row 2: must be an object"},
      {"{\"precision\": \"d\", \"max_n\": 9, \"gflops\": -2}",
       "line 3, row 1: \"gflops\" is -2, must be a number > 0"},
      {"{\"precision\": \"d\", \"max_n\": 9, \"gflops\": 2, \"gbytes_each\": \"2\"}",
       "line 3, row 1: \"gbytes_each\" is \"2\", must be a number >= 0"},
      {"{\"precision\": \"d\", \"least_n\": 9, \"panel\": 100, \"native_columns\": 0}",
       "line 3, row 1: \"panel\" is 100, must be a multiple of 128"},
      {"{\"precision\": \"d\", \"least_n\": 9, \"panel\": 128}",
       "line 3, row 1: \"native_columns\" is missing"},
      {"{\"precision\": \"d\", \"least_n\": 9, \"panel\": 128, \"native_columns\": 0, \"moduli\": "
       "12}",
       "line 3, row 1: \"moduli\" is 12, must be 13 or 14"},
      {"{\"precision\": \"c\", \"least_n\": 9, \"panel\": 128, \"native_columns\": 0, \"moduli\": "
       "8}",
       "line 3, row 1: \"moduli\" is 8, must be an integer from 0 to 7"},
      {"{\"precision\": \"d\", \"least_n\": 9, \"panel\": 128, \"native_columns\": 0, "
       "\"by_bytes\": 1}",
       "line 3, row 1: \"by_bytes\" is 1, must be true or false"},
      {"{\"precision\": \"z\", \"least_order\": 9, \"order_per_rhs\": 1, \"moduli\": 3}",
       "line 3, row 1: \"moduli\" is 3, must be 4 to 7"},
      {"{\"precision\": \"s\", \"least_order\": 9, \"order_per_rhs\": 1}",
       "line 3, row 1: \"precision\" is \"s\", must be d or z"},
      {"{\"precision\": \"d\", \"least_order\": 9}", "line 3, row 1: \"order_per_rhs\" is missing"},
      {"{\"precision\": \"d\", \"tile_method\": \"svd\"}",
       "line 3, row 1: \"tile_method\" is \"svd\", must be nystrom or projection"},
      {"{\"precision\": \"d\", \"tile_method\": \"nystrom\"}",
       "line 3, row 1: this backend compresses tiles by projection only"},
      {"{\"precision\": \"d\", \"tile_method\": \"projection\", \"n\": [1, 2]}",
       "line 3, row 1: \"n\" is not a member of a row"},
      {"{\"precision\": \"d\", \"tile_method\": \"projection\"},\n"
       "{\"precision\": \"d\", \"tile_method\": \"projection\"}",
       "line 4, row 2: a precision has one row of \"tile_method\""},
      {residues + ",\n" + residues,
       "line 4, row 2: rows of residues of one precision must ascend in \"least_n\""},
  };
  for (const auto& fault : kFaults) {
    const std::string output = with_rows(fault.rows);
    EXPECT_TRUE(has(output, "create: CHOL_STATUS_INVALID_VALUE\n")) << fault.rows << output;
    EXPECT_TRUE(has(output, fault.reason)) << fault.rows << output;
    EXPECT_FALSE(has(output, "exception")) << output;
  }
}

TEST_F(TuningFile, BrokenDocumentsAreRefusedWithTheReason) {
  const std::string machine = backend_of_this_machine();
  const struct {
    std::string text, reason;
  } kFaults[] = {
      {"", "line 1, column 1: syntax error"},
      {"{", "line 1, column 2: syntax error"},
      {"{\n\"machines\" {}}", "line 2, column 12: syntax error"},
      {"no JSON", "line 1, column 2: syntax error"},
      {"[]", "must be an object with \"machines\""},
      {"{\"machine\": {}}", "\"machines\" is missing"},
      {"{\"machines\": {}}",
       "the file is of version 1, this library reads version 2: run chol-tune again"},
      {"{\"version\": 3, \"machines\": {}}",
       "the file is of version 3, this library reads version 2: run chol-tune again"},
      {"{\"machines\": 3}", "\"machines\" is 3, must be an object"},
      {"{\"version\": 2, \"machines\": {\"" + machine + "\": {}}}",
       "\"" + machine + "\" is {}, must be an array of rows"},
      {"{\"chol\": \"0.0.9\", \"machines\": {}}",
       "\"chol\" is \"0.0.9\", must be \"0.1.0\", the version of this library"},
      {"{\"chol\": 1, \"machines\": {}}", "\"chol\" is 1, must be \"0.1.0\""},
  };
  for (const auto& fault : kFaults) {
    const std::string output = with(fault.text);
    EXPECT_TRUE(has(output, "create: CHOL_STATUS_INVALID_VALUE\n")) << fault.text << output;
    EXPECT_TRUE(has(output, fault.reason)) << fault.text << output;
    EXPECT_FALSE(has(output, "exception")) << output;
  }
}

/// The first matching row serves a case, and built-in rows the remaining cases.
TEST_F(TuningFile, RowsComeBeforeTheBuiltInOnes) {
  const std::string tiles = "chol_dpotrf --.*, tiles\\(nb=64,",
                    panel = "chol_dpotrf --.*, panel\\(";
  const auto runs_as = [&](const std::string& rows, const std::string& way) {
    const std::string output = with_rows(rows);
    EXPECT_TRUE(std::regex_search(output, std::regex(way))) << rows << output;
    EXPECT_TRUE(has(output, "potrf: CHOL_STATUS_SUCCESS 0 2\n")) << output;
  };
  runs_as(row("one", "[0, 30]", "panel") + "," + row("one", "[0]", "tiles"), panel);
  runs_as(row("one", "[1000]", "panel") + "," + row("one", "[0]", "tiles"), tiles);
  runs_as(row("one", "[1000]", "tiles"), panel);
}

/// Created by 20 handles, with a valid or an invalid file.
TEST_F(TuningFile, IsReadOnceAProcess) {
  const std::string good = "{\"version\": 2, \"machines\": {\"" + backend_of_this_machine() +
                           "\": [" + row("one", kEveryOrder, "panel") + "]}}";
  for (const std::string& text : {good, std::string("{\"chol\": \"0.0.9\"}")}) {
    std::ofstream(path_) << text;
    const timespec long_ago[] = {{1000000000, 1}, {1000000000, 1}};
    ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), long_ago, 0), 0);
    const int watch = inotify_init1(IN_NONBLOCK);
    // Close events in between, since identical events are merged.
    ASSERT_GE(inotify_add_watch(watch, path_.c_str(), IN_OPEN | IN_CLOSE), 0);
    const std::string output = probe("CHOL_BACKEND=host CHOL_TUNING=" + path_, "20");
    EXPECT_EQ(has(output, "create: CHOL_STATUS_SUCCESS\n"), text == good) << output;
    size_t opened = 0;
    inotify_event event;
    while (read(watch, &event, sizeof event) == sizeof event) opened += event.mask == IN_OPEN;
    close(watch);
    EXPECT_EQ(opened, 1u);
  }
}

/// A change of an old file alters its time; a new file is read again: here another text of the same
/// length and time.
TEST_F(TuningFile, IsReadAgainWhenItHasChanged) {
  const std::string broken = path_ + ".broken";
  std::ofstream(broken) << "{\"version\": 2, \"machine_\": {}}";
  const std::string rewrite = "cat " + broken + " >" + path_;
  const std::string keep_time =
      "touch -r " + path_ + " " + broken + ";" + rewrite + ";touch -r " + broken + " " + path_;
  for (const bool is_old : {false, true}) {
    std::ofstream(path_) << "{\"version\": 2, \"machines\": {}}";
    const timespec time = {is_old ? 1000000000 : std::time(nullptr) + 3600, 1};
    const timespec times[] = {time, time};
    ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
    const std::string output = probe("CHOL_BACKEND=host CHOL_TUNING=" + path_,
                                     "3 '" + (is_old ? rewrite : keep_time) + "'");
    EXPECT_TRUE(has(output, "\"machines\" is missing")) << output;
  }
  std::remove(broken.c_str());
}

TEST(Environment, MissingTuningFile) {
  const std::string output = probe("CHOL_BACKEND=host CHOL_TUNING=/nowhere/tuning.json");
  EXPECT_TRUE(has(output, "create: CHOL_STATUS_INVALID_VALUE\n")) << output;
  EXPECT_TRUE(has(output, "tuning file /nowhere/tuning.json: cannot be opened")) << output;
}

}  // namespace
}  // namespace chol::test
