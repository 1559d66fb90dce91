// SPDX-License-Identifier: Apache-2.0
// Opening, closing and verbs of the C interface. python/tests compares the results with those of
// the command.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "tests/c/handles.h"

extern "C" epi_status first_screen(const char* path, char** text, char** message);

namespace epi::c {
namespace {

const std::string kMlp = data_path("traces/mlp_eager.json");

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(CInterface, CompilesAsC99) {
  Text text;
  Text message;
  EXPECT_EQ(first_screen(kMlp.c_str(), text.out(), message.out()), EPI_OK);
  EXPECT_TRUE(contains(text.str(), "GPU work"));
}

TEST(CInterface, ReportsItsVersion) {
  EXPECT_EQ(epi_trace_abi(), EPI_TRACE_ABI);
  EXPECT_GE(std::string(epi_trace_version()).size(), 5U);
}

TEST(CInterface, RunsEveryVerbAsTextAndJson) {
  const TraceHandle trace = open_path(kMlp);
  for (const char* verb : {"summary", "table", "steps", "tree", "explain", "breakdown", "advise"}) {
    EXPECT_FALSE(run(trace, verb).empty()) << verb;
    EXPECT_TRUE(run(trace, verb, nullptr, EPI_JSON).starts_with("{\"schema\": 2")) << verb;
  }
}

TEST(CInterface, HasTheNamesOfSchema1) {
  const TraceHandle trace = open_path(kMlp);
  const std::string old = run(trace, "steps", R"({"json": 1})", EPI_JSON);
  EXPECT_TRUE(old.starts_with("{\"schema\": 1"));
  EXPECT_TRUE(contains(old, "\"busy\": "));
  EXPECT_FALSE(contains(old, "\"busy_share\": "));
}

TEST(CInterface, ReadsBytesLikeAFile) {
  std::ifstream file(kMlp, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(run(open_bytes(bytes), "table"), run(open_path(kMlp), "table"));
}

TEST(CInterface, SavesATraceThatReadsTheSame) {
  const auto path = std::filesystem::temp_directory_path() / "epi_c_test_saved.json.gz";
  const TraceHandle trace = open_path(kMlp);
  Text message;
  ASSERT_EQ(epi_trace_save(trace.get(), 0, path.c_str(), message.out()), EPI_OK) << message.str();
  EXPECT_EQ(run(open_path(path.string()), "table"), run(trace, "table"));
  EXPECT_EQ(epi_trace_save(trace.get(), 1, path.c_str(), nullptr), EPI_INVALID);
  std::filesystem::remove(path);
}

TEST(CInterface, SavesNothingIfTheFileHasChanged) {
  const auto folder = std::filesystem::temp_directory_path() / "epi_c_test_changed";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(kMlp, folder / "t.json",
                             std::filesystem::copy_options::overwrite_existing);
  const TraceHandle trace = open_path((folder / "t.json").string());
  std::ofstream(folder / "t.json") << "{}";
  Text message;
  const std::string output = (folder / "out.json").string();
  EXPECT_EQ(epi_trace_save(trace.get(), 0, output.c_str(), message.out()), EPI_INVALID);
  EXPECT_EQ(message.str(),
            output + ": not written: the file of the trace has changed since it was read");
  EXPECT_FALSE(std::filesystem::exists(output));
  EXPECT_TRUE(contains(run(trace, "summary", nullptr, EPI_TEXT, EPI_INVALID), "changed"));
  std::filesystem::remove_all(folder);
}

TEST(CInterface, ComparesTwoTraces) {
  const TraceHandle a = open_path(kMlp);
  const TraceHandle b = open_path(data_path("traces/mlp_compile.json"));
  epi_trace* traces[] = {a.get(), b.get()};
  Text text;
  const char* options = R"({"fail_if_kernels_differ": true})";
  EXPECT_EQ(epi_run(traces, 2, "compare", options, EPI_TEXT, text.out(), nullptr),
            EPI_CHECK_FAILED);
  EXPECT_FALSE(text.is_null());
}

TEST(CInterface, ChecksRules) {
  const TraceHandle trace = open_path(kMlp);
  EXPECT_TRUE(contains(run(trace, "expect", R"({"rules": ["step: kernels > 0"]})"), "ok"));
  const char* broken = R"({"rules": ["step: kernels == 0"]})";
  EXPECT_FALSE(run(trace, "expect", broken, EPI_TEXT, EPI_CHECK_FAILED).empty());
}

TEST(CInterface, ExplainsNamesWithoutATrace) {
  Text text;
  const char* options = R"({"kernels": ["nvjet_tst_64x8_64x16_1x2_h_bz_bias_TNT"]})";
  EXPECT_EQ(epi_run(nullptr, 0, "explain", options, EPI_JSON, text.out(), nullptr), EPI_OK);
  EXPECT_TRUE(contains(text.str(), "\"library\": \"cublas\""));
}

TEST(CInterface, UsesTheWidth) {
  const TraceHandle trace = open_path(kMlp);
  EXPECT_NE(run(trace, "summary", R"({"width": 120})"), run(trace, "summary"));
}

TEST(CInterface, NamesWhatIsWrongWithOptions) {
  const TraceHandle trace = open_path(kMlp);
  const auto message = [&](const char* verb, const char* options) {
    return run(trace, verb, options, EPI_TEXT, EPI_INVALID);
  };
  EXPECT_EQ(message("table", R"({"limi": 3})"), "[table] unknown option \"limi\"");
  EXPECT_EQ(message("table", R"({"json": true})"), "option \"json\": expected 1 or 2, not true");
  EXPECT_EQ(message("table", R"({"md": true})"), "[table] option \"md\": choose the format");
  EXPECT_EQ(message("steps", R"({"step-pattern": "x"})"),
            "[steps] option \"step_pattern\": it is an option of opening a trace");
  EXPECT_EQ(message("table", R"({"stats": 3})"), "option \"stats\": expected true or false, not 3");
  EXPECT_EQ(message("table", "[1]"), "options: expected a JSON object");
  EXPECT_TRUE(contains(message("table", "{"), "options: not valid JSON"));
  EXPECT_EQ(message("table", R"({"limit": {}})"),
            "option \"limit\": expected a string, a number, true, false or null");
  EXPECT_EQ(message("summary", R"({"width": 0})"),
            "option \"width\": expected a positive number, not 0");
  EXPECT_TRUE(contains(message("expect", R"({"rules": ["nonsense"]})"), "rule \"nonsense\""));
  EXPECT_TRUE(contains(message("sumary", nullptr), "unknown verb \"sumary\": expected summary,"));
  EXPECT_EQ(message("compare", nullptr), "[compare] expected two traces, got 1");
}

TEST(CInterface, RefusesAFormatThatAVerbDoesNotHave) {
  const TraceHandle trace = open_path(kMlp);
  EXPECT_EQ(run(trace, "summary", nullptr, EPI_CSV, EPI_INVALID),
            "[summary] the format csv is not available");
}

TEST(CInterface, NamesTheFileThatCannotBeRead) {
  const char* paths[] = {"/nonexistent/trace.json"};
  epi_trace* trace = nullptr;
  Text message;
  EXPECT_EQ(epi_trace_open(paths, 1, nullptr, nullptr, nullptr, &trace, message.out()),
            EPI_INVALID);
  EXPECT_EQ(trace, nullptr);
  EXPECT_EQ(message.str(), "/nonexistent/trace.json: No such file or directory");
}

TEST(CInterface, RefusesNullPointers) {
  epi_trace* trace = nullptr;
  Text text;
  const char* null_path[] = {nullptr};
  EXPECT_EQ(epi_trace_open(nullptr, 1, nullptr, nullptr, nullptr, &trace, nullptr), EPI_INVALID);
  EXPECT_EQ(epi_trace_open(null_path, 1, nullptr, nullptr, nullptr, &trace, nullptr), EPI_INVALID);
  EXPECT_EQ(epi_trace_open(null_path, 1, nullptr, nullptr, nullptr, nullptr, nullptr), EPI_INVALID);
  EXPECT_EQ(epi_trace_open_memory(nullptr, 1, nullptr, nullptr, nullptr, nullptr, &trace, nullptr),
            EPI_INVALID);
  EXPECT_EQ(epi_trace_open_memory("", 0, nullptr, nullptr, nullptr, nullptr, &trace, nullptr),
            EPI_INVALID);
  EXPECT_EQ(epi_run(nullptr, 1, "summary", nullptr, EPI_TEXT, text.out(), nullptr), EPI_INVALID);
  EXPECT_EQ(epi_run(&trace, 1, "summary", nullptr, EPI_TEXT, text.out(), nullptr), EPI_INVALID);
  EXPECT_EQ(epi_run(&trace, 1, nullptr, nullptr, EPI_TEXT, text.out(), nullptr), EPI_INVALID);
  EXPECT_EQ(epi_run(&trace, 1, "summary", nullptr, EPI_TEXT, nullptr, nullptr), EPI_INVALID);
  EXPECT_EQ(epi_trace_info(nullptr, text.out(), nullptr), EPI_INVALID);
  EXPECT_EQ(epi_trace_save(nullptr, 0, "x", nullptr), EPI_INVALID);
  ArrowArrayStream stream;
  EXPECT_EQ(epi_table(nullptr, "kernels", &stream, nullptr), EPI_INVALID);
  EXPECT_EQ(stream.release, nullptr);
  EXPECT_EQ(epi_table(nullptr, "kernels", nullptr, nullptr), EPI_INVALID);
  EXPECT_EQ(epi_query(nullptr, nullptr, nullptr, nullptr, nullptr, &stream, nullptr), EPI_INVALID);
  EXPECT_EQ(epi_trace_count(nullptr), 0U);
  epi_trace_close(nullptr);
  epi_trace_close(&trace);
  epi_free(nullptr);
}

// Long enough for several calls of a progress callback.
std::string large_trace() {
  std::string text = "{\"traceEvents\":[";
  for (int i = 0; i < 500'000; ++i) {
    text += i == 0 ? "" : ",";
    text +=
        R"({"ph":"X","cat":"cpu_op","name":"aten::add_with_a_name_that_is_quite_long","pid":1,"tid":1,"ts":)" +
        std::to_string(i) + R"(,"dur":1,"args":{"External id":)" + std::to_string(i) +
        R"(,"Input Dims":[[128,64],[128,64],[]]}})";
  }
  return text + "]}";
}

TEST(CInterface, CancelsARead) {
  const std::string bytes = large_trace();
  int calls = 0;
  const auto cancel = [](void* user, double fraction) {
    EXPECT_GE(fraction, 0.0);
    EXPECT_LE(fraction, 1.0);
    ++*static_cast<int*>(user);
    return 1;
  };
  epi_trace* trace = nullptr;
  Text message;
  const epi_status status = epi_trace_open_memory(bytes.data(), bytes.size(), "large", nullptr,
                                                  cancel, &calls, &trace, message.out());
  ASSERT_EQ(calls, 1);
  EXPECT_EQ(status, EPI_CANCELLED);
  EXPECT_EQ(trace, nullptr);
  EXPECT_EQ(message.str(), "cancelled");
}

TEST(CInterface, IsUsedByManyThreads) {
  const TraceHandle trace = open_path(kMlp);
  const std::string expected = run(trace, "advise");
  std::vector<std::thread> threads;
  std::atomic<int> same = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { same += run(trace, "advise") == expected ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, 8);
}

}  // namespace
}  // namespace epi::c
