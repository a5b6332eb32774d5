// CHOL_TRACE: the tasks of every core over time.
#include "base/task_trace.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "support/child.hpp"

namespace chol {
namespace {

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::vector<TaskEvent> two_tasks() {
  return {{1000, 3000, 0, 0, 0, 1, Operator::potrf}, {3000, 3500, 1, 0, 0, 4, Operator::trsm}};
}

TEST(TaskTrace, JsonIsChromesFormat) {
  const auto parsed = nlohmann::json::parse(TaskTrace::as_json(two_tasks()));
  const auto& events = parsed.at("traceEvents");
  ASSERT_EQ(events.size(), 4u);  // and the names of two cores
  EXPECT_EQ(events[1].at("name"), "trsm");
  EXPECT_EQ(events[1].at("ph"), "X");
  EXPECT_EQ(events[1].at("tid"), 4);
  EXPECT_DOUBLE_EQ(events[1].at("ts"), 2);
  EXPECT_DOUBLE_EQ(events[1].at("dur"), 0.5);
  EXPECT_EQ(events[1].at("args").at("row"), 1);
  EXPECT_EQ(events[3].at("args").at("name"), "core 4");
}

TEST(TaskTrace, SvgHasARowACoreAndABarATask) {
  const std::string text = TaskTrace::as_svg(two_tasks());
  EXPECT_EQ(count_of(text, ">core "), 2u);
  EXPECT_EQ(count_of(text, "<title>"), 2u);
  EXPECT_NE(text.find("potrf (0, 0) step 0, 2.0 us"), std::string::npos);
}

TEST(TaskTrace, WithoutTasksIsAValidFile) {
  EXPECT_TRUE(nlohmann::json::parse(TaskTrace::as_json({})).at("traceEvents").empty());
  EXPECT_NE(TaskTrace::as_svg({}).find("</svg>"), std::string::npos);
}

/// The order and the time of recording do not matter: a task is one event with begin and end.
TEST(TaskTrace, RecordsTasksOfAllThreads) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("chol_trace_" + std::to_string(getpid()) + ".json");
  EXPECT_TRUE(test::holds_in_child([&] {
    { const TracedTask off(Operator::gemm, 0, 0, 0); }
    TaskTrace::open(path.c_str());
    { const TracedTask own(Operator::gemm, 3, 2, 1); }
    std::thread([] { const TracedTask other(Operator::syrk, 4, 4, 1); }).join();
    const auto events = TaskTrace::events();
    if (events.size() != 2 || events[0].row != 3 || events[1].row != 4) return false;
    if (events[0].end < events[0].start || events[0].core < 0) return false;
    std::exit(0);  // where the file is written
  }));
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(count_of(text.str(), "\"X\""), 2u);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace chol
