// SPDX-License-Identifier: Apache-2.0
// Checks written trace files with an independent parser, simdjson.
#include "epilogue/trace/writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <simdjson.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <fstream>
#include <sstream>

#include "tests/trace/trace_builder.h"

namespace epi::trace {
namespace {

class WriterTest : public testing::Test {
 protected:
  WriterTest() { std::filesystem::create_directory(folder_); }
  ~WriterTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file(const char* name) const { return folder_ / name; }
  static std::string read(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("epilogue_writer_" + std::to_string(::getpid()));
};

Trace small_trace() {
  Trace trace = TraceBuilder()
                    .property("schemaVersion", "1")
                    .property("deviceProperties", "[]")
                    .op("aten::\"quoted\"\n\\", 3845890194734.724, 349.462,
                        {.external_id = 1, .args = R"({"Input Dims": [[2, 3]]})"})
                    .event({.phase = Phase::kFlowStart,
                            .category = Category::kAc2g,
                            .ts_ns = 5,
                            .correlation = 44},
                           "ac2g")
                    .unlaunched("k", 0.007, 2.72, {.external_id = 1, .correlation = 44})
                    .event({.phase = Phase::kMetadata}, "process_name", {0, 0, "Spans", "a b"},
                           R"({"name": "python3"})")
                    .trace();
  trace.base_time_ns = 1790857026000000000;
  return trace;
}

void expect_small_trace(const std::string& text) {
  simdjson::dom::parser parser;
  const simdjson::dom::element root = parser.parse(text);
  EXPECT_EQ(int64_t(root["schemaVersion"]), 1);
  EXPECT_EQ(int64_t(root["baseTimeNanoseconds"]), 1790857026000000000);
  const simdjson::dom::array events = root["traceEvents"];
  ASSERT_EQ(events.size(), 4);
  const auto op = events.at(0);
  EXPECT_EQ(std::string_view(op["name"]), "aten::\"quoted\"\n\\");
  EXPECT_EQ(std::string_view(op["cat"]), "cpu_op");
  EXPECT_EQ(int64_t(op["args"]["External id"]), 1);
  EXPECT_EQ(int64_t(op["args"]["Input Dims"].at(0).at(1)), 3);
  EXPECT_EQ(int64_t(events.at(1)["id"]), 44);
  EXPECT_EQ(int64_t(events.at(2)["args"]["correlation"]), 44);
  EXPECT_EQ(int64_t(events.at(2)["tid"]), 7);
  EXPECT_EQ(std::string_view(events.at(3)["pid"]), "Spans");
  EXPECT_EQ(std::string_view(events.at(3)["args"]["name"]), "python3");
}

TEST_F(WriterTest, WritesJsonThatSimdjsonParses) {
  ASSERT_TRUE(write(small_trace(), file("a.json")));
  const std::string text = read(file("a.json"));
  expect_small_trace(text);
  // Times are written as decimal digits, not through a double, so nanoseconds survive.
  EXPECT_NE(text.find("\"ts\": 3845890194734.724, \"dur\": 349.462"), std::string::npos) << text;
}

TEST_F(WriterTest, CompressesByFileExtension) {
  ASSERT_TRUE(write(small_trace(), file("a.json.gz")));
  gzFile gz = ::gzopen(file("a.json.gz").c_str(), "rb");
  std::string text(1 << 16, '\0');
  text.resize(static_cast<size_t>(::gzread(gz, text.data(), 1 << 16)));
  ::gzclose(gz);
  EXPECT_EQ(read(file("a.json.gz")).substr(0, 2), "\x1f\x8b");
  expect_small_trace(text);

  ASSERT_TRUE(write(small_trace(), file("a.json.zst")));
  const std::string packed = read(file("a.json.zst"));
  std::string unpacked(1 << 16, '\0');
  const size_t size =
      ::ZSTD_decompress(unpacked.data(), unpacked.size(), packed.data(), packed.size());
  ASSERT_FALSE(::ZSTD_isError(size));
  expect_small_trace(unpacked.substr(0, size));
}

TEST_F(WriterTest, WritesATraceWithoutEvents) {
  ASSERT_TRUE(write(Trace(), file("empty.json")));
  simdjson::dom::parser parser;
  const std::string text = read(file("empty.json"));
  EXPECT_EQ(simdjson::dom::array(parser.parse(text)["traceEvents"]).size(), 0);
}

TEST_F(WriterTest, ReportsMissingFolder) {
  const auto path = folder_ / "lost" / "a.json";
  const auto result = write(small_trace(), path);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, path.string() + ": cannot create: No such file or directory");
}

// A limit on the file size simulates a full disk.
TEST_F(WriterTest, LeavesNoFileOnAFullDisk) {
  TraceBuilder builder;
  for (int i = 0; i < 100000; ++i) builder.op("aten::mm", i * 100, 50, {.external_id = i + 1});
  const Trace trace = builder.trace();
  std::ofstream(file("a.json")) << "before";
  for (const char* name : {"a.json", "b.json.gz", "c.json.zst"}) {
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100000, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto result = write(trace, file(name));
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, handler);
    ASSERT_FALSE(result) << name;
    EXPECT_EQ(result.error().message, file(name).string() + ": cannot write: File too large");
  }
  EXPECT_EQ(read(file("a.json")), "before");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(WriterTest, WritesToADeviceWithoutReplacingIt) {
  ASSERT_TRUE(write(small_trace(), "/dev/null"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(WriterTest, FollowsSymlinks) {
  std::filesystem::create_symlink(file("real.json"), file("link.json"));
  ASSERT_TRUE(write(small_trace(), file("link.json")));
  ASSERT_TRUE(write(small_trace(), file("link.json")));
  EXPECT_TRUE(std::filesystem::is_symlink(file("link.json")));
  expect_small_trace(read(file("real.json")));
}

}  // namespace
}  // namespace epi::trace
