// The environment variables, each seen by a process of its own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <string>

namespace chol::test {
namespace {

/// What the probe prints, stderr included, with these variables beside the inherited ones.
std::string probe(const std::string& variables) {
  const std::string command = "env -u CHOL_BACKEND " + variables + " " CHOL_TEST_PROBE " 2>&1";
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
  for (const char* ignored : {"0", "-4", "many", "99999999999"})
    EXPECT_TRUE(
        has(probe(std::string("OMP_NUM_THREADS=2 CHOL_NUM_THREADS=") + ignored), "threads: 2\n"));
}

/// What is no word of it is passed over; without a device nothing changes.
TEST(Environment, Offload) {
  const std::string common = "CHOL_CUDA_PLUGIN=/nowhere/plugin.so CHOL_OFFLOAD=";
  for (const char* value : {"never", "auto", "always", "abacus", "\"\""}) {
    const std::string output = probe(common + value);
    EXPECT_TRUE(has(output, "potrf: CHOL_STATUS_SUCCESS 0 2\n")) << output;
    EXPECT_FALSE(has(output, "# chol:")) << output;
    EXPECT_EQ(has(probe("CHOL_VERBOSE=1 " + common + value),
                  "# chol: CHOL_OFFLOAD = abacus, must be never, auto or always (passed over)\n"),
              std::string(value) == "abacus");
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

/// A line a call, which is a chol-bench command line with a comment.
TEST(Environment, Verbose) {
  EXPECT_FALSE(has(probe("CHOL_VERBOSE=0"), "chol-bench"));
  EXPECT_FALSE(has(probe("-u CHOL_VERBOSE"), "chol-bench"));
  const std::string output = probe("CHOL_VERBOSE=1");
  const std::string tail = "  # host [^,]+, [a-z]+, [0-9.]+ ms, [0-9.]+ Gflop/s";
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
    return with("{\"machines\": {\"" + backend_of_this_machine() + "\": [" + rows + "]}}");
  }
  static std::string row(const std::string& form, const std::string& max_n,
                         const std::string& method) {
    return "{\"routine\": \"potrf\", \"form\": \"" + form +
           "\", \"precision\": \"d\", \"max_n\": " + max_n + ", \"method\": \"" + method + "\"" +
           (method.ends_with("tiles") ? ", \"block\": 64}" : "}");
  }
  void TearDown() override { std::remove(path_.c_str()); }

 private:
  const std::string path_ =
      testing::TempDir() + "chol_tuning_" + std::to_string(getpid()) + ".json";
};

constexpr char kEveryOrder[] = "9223372036854775807";

TEST_F(TuningFile, RowsAreUsed) {
  const std::string output =
      with_rows(row("one", kEveryOrder, "tiles") + "," + row("batch", kEveryOrder, "panel"));
  EXPECT_TRUE(std::regex_search(output, std::regex("chol_dpotrf --.*, tiles, "))) << output;
  EXPECT_TRUE(std::regex_search(output, std::regex("chol_dpotrf_strided_batched --.*, panel, ")))
      << output;
  EXPECT_TRUE(has(output, "potrf: CHOL_STATUS_SUCCESS 0 2\n")) << output;
  EXPECT_TRUE(has(output, "batch: CHOL_STATUS_SUCCESS 0 2\n")) << output;
}

/// What the built-in rows ask for, a file may ask for too.
TEST_F(TuningFile, LanesTakeTheirKnobs) {
  const std::string rest = std::string(", \"form\": \"batch\", \"precision\": \"d\", ");
  const std::string all = "\"max_n\": " + std::string(kEveryOrder) + ", \"method\": \"panel\"}";
  const std::string output =
      with_rows("{\"routine\": \"potrf\"" + rest +
                "\"max_n\": 160, \"method\": \"lanes\", \"tile\": 16},{\"routine\": \"potrf\"" +
                rest + all + ",{\"routine\": \"potrs\"" + rest +
                "\"max_n\": 128, \"method\": \"lanes\", \"block\": 64, \"tile\": 12},{\"routine\": "
                "\"potrs\"" +
                rest + all);
  EXPECT_TRUE(has(output, "create: CHOL_STATUS_SUCCESS\n")) << output;
  EXPECT_TRUE(std::regex_search(output, std::regex("chol_dpotrf_strided_batched --.*, lanes, ")))
      << output;
  const std::string too_large =
      with_rows(row("batch", "257", "lanes") + "," + row("batch", kEveryOrder, "panel"));
  EXPECT_TRUE(has(too_large, "row 1: this backend cannot run that plan")) << too_large;
}

TEST_F(TuningFile, BlasTilesNeedABlas) {
  const std::string output = with_rows(row("one", kEveryOrder, "blas_tiles"));
  const char* const expected = CHOL_TEST_BLAS ? "chol_dpotrf --.*, blas_tiles, "
                                              : "row 1: this backend cannot run that plan";
  EXPECT_TRUE(std::regex_search(output, std::regex(expected))) << output;
}

TEST_F(TuningFile, RowsOfAnotherMachineAreNot) {
  EXPECT_TRUE(has(with("{\"machines\": {\"abacus\": [" + row("one", "10", "fused") + "]}}"),
                  "create: CHOL_STATUS_SUCCESS\n"));
}

TEST_F(TuningFile, BrokenFilesAreRefusedWithTheReason) {
  const std::string good = row("one", "100", "panel");
  const auto replaced = [&](const std::string& what, const std::string& by) {
    std::string text = good;
    return text.replace(text.find(what), what.size(), by);
  };
  const struct {
    std::string rows, reason;
  } kFaults[] = {
      {replaced("potrf", "getrf"), "row 1: unknown name \"getrf\""},
      {replaced("\"one\"", "\"two\""), "row 1: unknown name \"two\""},
      {replaced("panel", "magic"), "row 1: unknown name \"magic\""},
      {replaced("\"d\"", "\"q\""), "row 1: precision must be one of s, d, c, z"},
      {replaced("\"d\"", "\"sd\""), "row 1: precision must be one of s, d, c, z"},
      {replaced("\"precision\": \"d\", ", ""), "row 1: "},
      {replaced("100", "\"many\""), "row 1: "},
      {good + "," + good, "row 2: rows of one key must ascend in max_n"},
      {good + "," + row("one", "50", "panel"), "row 2: rows of one key must ascend in max_n"},
      {row("one", kEveryOrder, "fused"), "row 1: this backend cannot run that plan"},
      {row("batch", kEveryOrder, "blocked"), "row 1: this backend cannot run that plan"},
  };
  for (const auto& fault : kFaults) {
    const std::string output = with_rows(fault.rows);
    EXPECT_TRUE(has(output, "create: CHOL_STATUS_INVALID_VALUE\n")) << fault.rows << output;
    EXPECT_TRUE(has(output, fault.reason)) << fault.rows << output;
  }
  for (const char* text : {"", "{", "[]", "no JSON", "{\"machine\": {}}"})
    EXPECT_TRUE(has(with(text), "create: CHOL_STATUS_INVALID_VALUE\n")) << text;
}

/// Orders beyond the last row take the last row's plan, so that one that is meant for small orders
/// cannot be the last.
TEST_F(TuningFile, LastRowCoversEveryOrder) {
  const std::string output = with_rows(row("one", "8", "panel") + "," + row("one", "9", "tiles"));
  EXPECT_TRUE(std::regex_search(output, std::regex("chol_dpotrf --.*, tiles, "))) << output;
  EXPECT_TRUE(has(output, "potrf: CHOL_STATUS_SUCCESS 0 2\n")) << output;
  const std::string refused = with_rows(row("batch", "8", "lanes"));
  EXPECT_TRUE(has(refused, "create: CHOL_STATUS_INVALID_VALUE\n")) << refused;
  EXPECT_TRUE(has(refused, "the last row of potrf, batch, d covers every larger order")) << refused;
  const std::string lanes =
      with_rows(row("batch", "20", "lanes") + "," + row("batch", "21", "panel"));
  EXPECT_TRUE(std::regex_search(lanes, std::regex("chol_dpotrf_strided_batched --.*, lanes, ")));
  EXPECT_TRUE(has(lanes, "batch: CHOL_STATUS_SUCCESS 0 2\n")) << lanes;
}

TEST(Environment, TuningFileThatIsNotThere) {
  const std::string output = probe("CHOL_BACKEND=host CHOL_TUNING=/nowhere/tuning.json");
  EXPECT_TRUE(has(output, "create: CHOL_STATUS_INVALID_VALUE\n")) << output;
  EXPECT_TRUE(has(output, "tuning file /nowhere/tuning.json: cannot be opened")) << output;
}

}  // namespace
}  // namespace chol::test
