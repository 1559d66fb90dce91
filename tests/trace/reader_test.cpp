// SPDX-License-Identifier: Apache-2.0
// Reading trace files in all formats that profilers write, including damaged ones.
#include "epilogue/trace/reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <zstd.h>
#include <algorithm>
#include <map>

#include "tests/trace/gzip.h"
#include "tests/trace/same_trace.h"
#include "tests/trace/test_files.h"

namespace epi::trace {
namespace {

Trace read_or_fail(std::string_view text) {
  auto trace = read_bytes(std::string(text), "test.json");
  if (!trace) throw std::runtime_error(trace.error().message);
  return std::move(*trace);
}

std::string error_of(std::string_view text) {
  const auto trace = read_bytes(std::string(text), "test.json");
  return trace ? "accepted" : trace.error().message;
}

constexpr std::string_view kEvent =
    R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 10.5, "dur": 2, "args": {"External id": 7}})";

// PyTorch without Kineto writes a list of events without categories.
TEST(Reader, ReadsLegacyTracesAsOperators) {
  const auto trace = read_bytes(
      R"([{"name": "ProfilerStep#1", "ph": "X", "ts": 1, "dur": 9, "tid": 1, "pid": "CPU functions", "args": {}},
          {"name": "aten::mm", "ph": "X", "ts": 2, "dur": 5, "tid": 1, "pid": "CPU functions", "args": {}},
          {"name": "other", "ph": "X", "ts": 2, "dur": 5, "tid": 1, "pid": 1, "args": {}}])",
      "legacy");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->category[0], Category::kUserAnnotation);
  EXPECT_EQ(trace->category[1], Category::kCpuOp);
  EXPECT_EQ(trace->category[2], Category::kNone) << "the event belongs to another process";
}

TEST(Reader, ReadsAnObjectAndABareArray) {
  const Trace object = read_or_fail(
      fmt::format(R"({{"schemaVersion": 1, "traceEvents": [{}], "traceName": "t"}})", kEvent));
  ASSERT_EQ(object.size(), 1);
  EXPECT_EQ(event_text(object, 0),
            R"(X cpu_op "aten::mm" 1/2 10500+2000 external 7 correlation 0 {"External id": 7})");
  EXPECT_EQ(object.property("traceName"), "\"t\"");
  const Trace array = read_or_fail(fmt::format("[{}]", kEvent));
  expect_same_events(object, array);
  EXPECT_TRUE(array.defects.empty());
}

TEST(Reader, AcceptsKeysInAnyOrderAndSpacing) {
  const Trace usual = read_or_fail(fmt::format("[{}]", kEvent));
  const Trace reordered = read_or_fail(
      R"({"traceEvents":[{"args":{"External id": 7},"dur":"2.000","ts":"10.5","tid":2,"pid":1,"unknown":[{"ph":"X"}],"name":"aten::mm","cat":"cpu_op","ph":"X"}]})");
  expect_same_events(usual, reordered);
}

TEST(Reader, ReadsOldCategoriesSpellingsAndQuotedIds) {
  const Trace trace = read_or_fail(R"([
    {"ph": "X", "cat": "Operator", "name": "op", "pid": "25738", "tid": "25738", "ts": 1, "dur": 1, "args": {"external id": 3}},
    {"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 1, "dur": 1, "args": {"correlation": 5, "external id": 3}},
    {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 25738, "tid": 25738, "ts": 1, "dur": 1, "args": {"correlation": 5}},
    {"ph": "I", "name": "Iteration Start", "pid": "", "tid": "", "ts": 1},
    {"ph": "X", "cat": "hpu_op", "name": "h", "pid": 0, "tid": 0, "ts": 1, "dur": 1}])");
  ASSERT_EQ(trace.size(), 5);
  EXPECT_EQ(trace.category[0], Category::kCpuOp);
  EXPECT_EQ(trace.external_id[0], 3);
  EXPECT_EQ(trace.category[1], Category::kKernel);
  EXPECT_EQ(trace.lanes[trace.lane[1]].tid_text, "stream 7");
  EXPECT_EQ(trace.correlation[1], 5);
  EXPECT_EQ(trace.lane[0], trace.lane[2]);  // quoted or not
  EXPECT_EQ(trace.correlation[2], 5);
  EXPECT_EQ(trace.phase[3], Phase::kInstant);
  EXPECT_EQ(trace.category_text(4), "hpu_op");
  EXPECT_TRUE(trace.defects.empty());
}

TEST(Reader, KeepsPropertiesFromBeforeAndAfterTheEvents) {
  const Trace trace = read_or_fail(
      R"({"baseTimeNanoseconds": 1790857026000000000, "deviceProperties": [{"name": "H200"}], "traceEvents": [], "distributedInfo": {"rank": 34, "pg_config": [[1], [2]]}, "traceName": "x"})");
  EXPECT_EQ(trace.base_time_ns, 1790857026000000000);
  EXPECT_EQ(trace.property("deviceProperties"), R"([{"name": "H200"}])");
  EXPECT_EQ(trace.property("distributedInfo"), R"({"rank": 34, "pg_config": [[1], [2]]})");
  EXPECT_EQ(trace.size(), 0);
}

TEST(Reader, ReportsNonTraceFilesInOneLine) {
  EXPECT_EQ(error_of(""), "test.json: the file is empty, expected a JSON trace");
  EXPECT_EQ(error_of(" \n"), "test.json: the file is empty, expected a JSON trace");
  EXPECT_EQ(error_of("hello"), "test.json: byte 0: not a trace: expected { or [");
  EXPECT_EQ(error_of("{}"), "test.json: not a trace: it has no \"traceEvents\"");
  EXPECT_EQ(error_of(R"({"a": [1, 2)"),
            "test.json: not a trace: it has no \"traceEvents\" before its JSON breaks off");
  EXPECT_EQ(error_of("[1, 2, 3]"), "test.json: not a trace: no event could be read");
  EXPECT_EQ(read("/nowhere/x.json").error().message, "/nowhere/x.json: No such file or directory");
}

TEST(Reader, SeparatesLanesWithUnusualIds) {
  const Trace trace = read_or_fail(R"([
    {"ph": "X", "name": "a", "pid": 1, "tid": 11.0, "ts": 1, "dur": 9},
    {"ph": "X", "name": "b", "pid": 1, "tid": 21.0, "ts": 2, "dur": 1},
    {"ph": "X", "name": "c", "pid": 1, "tid": 18446744073709551610, "ts": 2, "dur": 1},
    {"ph": "X", "name": "d", "pid": 1, "tid": 18446744073709551615, "ts": 2, "dur": 1},
    {"ph": "X", "name": "e", "pid": 1, "tid": null, "ts": 2, "dur": 1}])");
  EXPECT_EQ(trace.lanes.size(), 5);
  EXPECT_EQ(trace.lanes[4].tid_text, "null");
}

TEST(Reader, CountsTrailingTextAsDefect) {
  const std::string one = fmt::format("{{\"traceEvents\": [{}]}}", kEvent);
  EXPECT_TRUE(read_or_fail(one + "\n").defects.empty());
  const Trace two = read_or_fail(one + one);
  EXPECT_EQ(two.size(), 1);
  EXPECT_EQ(two.defects.of(Defect::kTrailingText), 1);
}

// An end event closes the innermost open begin event of its thread.
TEST(Reader, PairsBeginAndEndEvents) {
  const Trace trace = read_or_fail(R"([
    {"ph": "B", "name": "outer", "cat": "cpu_op", "ts": 1, "pid": 1, "tid": 1},
    {"ph": "B", "name": "inner", "cat": "cpu_op", "ts": 2, "pid": 1, "tid": 1},
    {"ph": "B", "name": "other", "cat": "cpu_op", "ts": 3, "pid": 1, "tid": 2},
    {"ph": "E", "ts": 4, "pid": 1, "tid": 1},
    {"ph": "E", "ts": 7, "pid": 1, "tid": 1},
    {"ph": "E", "ts": 8, "pid": 1, "tid": 1},
    {"ph": "B", "name": "open", "ts": 9, "pid": 1, "tid": 1},
    {"ph": "E", "ts": 10, "pid": 1, "tid": 2}])");
  std::map<std::string, int64_t> durations;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.is_span(id)) durations[std::string(trace.name_of(id))] = trace.dur_ns[id];
  }
  EXPECT_EQ(durations,
            (std::map<std::string, int64_t>{{"outer", 6000}, {"inner", 2000}, {"other", 7000}}));
  // The third end event and the last begin event of thread 1.
  EXPECT_EQ(trace.defects.of(Defect::kUnpaired), 2);
}

std::string nested(size_t depth) { return std::string(depth, '[') + "1" + std::string(depth, ']'); }

// Both parsers: the second file also contains a quote that is not escaped.
TEST(Reader, SkipsEventsThatAreNestedTooDeeply) {
  for (const std::string quote : {"", R"({"ph": "X", "name": "a"b", "ts": 1, "dur": 1},)"}) {
    const std::string start =
        "[" + quote + R"({"ph": "X", "name": "deep", "ts": 1, "dur": 1, "args": {"a": )";
    const std::string end = "}}," + std::string(kEvent) + "]";
    const Trace accepted = read_or_fail(fmt::format("{}{}{}", start, nested(998), end));
    EXPECT_EQ(accepted.size(), quote.empty() ? 2 : 3);
    EXPECT_EQ(accepted.defects.of(Defect::kTooDeep), 0);
    const Trace trace = read_or_fail(fmt::format("{}{}{}", start, nested(1200), end));
    EXPECT_EQ(trace.size(), quote.empty() ? 1 : 2);
    EXPECT_EQ(trace.defects.of(Defect::kTooDeep), 1);
    // The object of the arguments is the first level.
    EXPECT_EQ(trace.defects.too_deep_byte(), start.size() + 999);
    const auto lines = trace.defects.lines();
    EXPECT_NE(std::find_if(lines.begin(), lines.end(),
                           [](const std::string& line) {
                             return line.starts_with(
                                 "1 event skipped: nested too deeply, the first at byte ");
                           }),
              lines.end());
  }
}

TEST(Reader, ReportsTheByteOfNestingInProperties) {
  EXPECT_EQ(error_of(R"({"a": )" + nested(1200) + R"(, "traceEvents": []})"),
            "test.json: byte 1006: nested deeper than 1000 levels");
  std::string events = "[";
  for (int i = 0; i < 2000; ++i) events += R"({"ph":[)";
  EXPECT_EQ(error_of(events), "test.json: byte 3507: not a trace: nested deeper than 1000 levels");
}

// After each malformed event, the next one inside of it is read, up to a limit on the work.
TEST(Reader, ReadsEventsInsideMalformedOnes) {
  std::string text = "[";
  for (int i = 0; i < 5; ++i) text += R"({"ph": "X", "name": "open", "args": {"b": [1, )";
  text += std::string(kEvent) + "]";
  const Trace trace = read_or_fail(text);
  ASSERT_EQ(trace.size(), 1);
  EXPECT_EQ(trace.name_of(0), "aten::mm");
  EXPECT_EQ(trace.defects.of(Defect::kBrokenEvent), 5);
}

TEST(Reader, CutsLongNamesAndKeepsThemApart) {
  std::string text = "[";
  for (const size_t size : {size_t{65536}, size_t{65537}, size_t{70000}}) {
    text += R"({"ph": "X", "ts": 1, "dur": 1, "name": ")" + std::string(size - 2, 'a') + R"(\n"},)";
  }
  const Trace trace = read_or_fail(text + "]");
  ASSERT_EQ(trace.size(), 3);
  EXPECT_EQ(trace.name_of(0), std::string(65534, 'a') + "\n");
  EXPECT_TRUE(trace.name_of(1).ends_with("aaa... (65537 bytes)"));
  EXPECT_TRUE(trace.name_of(2).ends_with("aaa... (70000 bytes)"));
  EXPECT_LE(trace.name_of(2).size(), 65600);
  EXPECT_EQ(trace.defects.of(Defect::kLongName), 2);
  EXPECT_EQ(trace.defects.of(Defect::kBadEscape), 0);
}

TEST(Reader, CountsUnusableEvents) {
  const Trace trace = read_or_fail(R"([
    {"ph": "X", "name": "ok", "ts": 1, "dur": -5},
    {"ph": "X", "name": "no time", "dur": 1},
    {"ph": "X", "name": "no duration", "ts": 1},
    {"ph": "N", "name": "an object", "ts": 1},
    {"name": "nothing"}])");
  ASSERT_EQ(trace.size(), 1);
  EXPECT_EQ(trace.dur_ns[0], 0);
  EXPECT_EQ(trace.defects.of(Defect::kNegativeDuration), 1);
  EXPECT_EQ(trace.defects.of(Defect::kBadTime), 2);
  EXPECT_EQ(trace.defects.of(Defect::kUnknownPhase), 1);
  EXPECT_EQ(trace.defects.of(Defect::kBrokenEvent), 1);
  EXPECT_EQ(trace.defects.lines().front(), "1 event skipped: malformed");
}

class CompressedFile : public testing::Test {
 protected:
  ~CompressedFile() override { std::filesystem::remove(path_); }
  Trace read_bytes(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    auto trace = read(path_);
    if (!trace) throw std::runtime_error(trace.error().message);
    return std::move(*trace);
  }

  std::string path_ = testing::TempDir() + "/epilogue_packed_" + std::to_string(::getpid());
  std::string text_ = file_text(data_path("traces/mlp_eager.json"));
  Trace plain_ = read_or_fail(text_);
};

TEST_F(CompressedFile, ReadsOneOrSeveralGzipMembers) {
  expect_same_events(read_bytes(gzip(text_)), plain_);
  const size_t half = text_.size() / 2;
  const Trace two = read_bytes(gzip(text_.substr(0, half)) + gzip(text_.substr(half)));
  expect_same_events(two, plain_);
  EXPECT_TRUE(two.defects.empty());
}

TEST_F(CompressedFile, ReadsZstd) {
  std::string packed(::ZSTD_compressBound(text_.size()), '\0');
  packed.resize(::ZSTD_compress(packed.data(), packed.size(), text_.data(), text_.size(), 3));
  expect_same_events(read_bytes(packed), plain_);
}

// The frame asks for a window of 256 MB, as `zstd --long=28` writes it.
TEST_F(CompressedFile, ReadsZstdWithALongWindow) {
  ZSTD_CCtx* const context = ::ZSTD_createCCtx();
  ::ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 28);
  std::string packed(::ZSTD_compressBound(text_.size()) + 1000, '\0');
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  ZSTD_inBuffer in{text_.data(), text_.size(), 0};
  // In two calls, so that the size is unknown and the header has the window.
  ASSERT_EQ(::ZSTD_isError(::ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush)), 0U);
  ASSERT_EQ(::ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0U);
  ::ZSTD_freeCCtx(context);
  packed.resize(out.pos);
  expect_same_events(read_bytes(packed), plain_);
}

TEST_F(CompressedFile, RecoversBlocksOfTruncatedZstd) {
  const std::string text = unpacked_text(data_path("traces/llama_train.json.gz"));
  std::string packed(::ZSTD_compressBound(text.size()), '\0');
  packed.resize(::ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  const Trace cut = read_bytes(packed.substr(0, packed.size() / 2));
  EXPECT_EQ(cut.defects.of(Defect::kBrokenCompression), 1);
  EXPECT_GT(cut.size(), 10000);
  std::ofstream(path_, std::ios::binary) << packed.substr(0, 20);
  EXPECT_EQ(read(path_).error().message,
            path_ + ": the compressed data is corrupt: nothing could be decompressed");
}

TEST_F(CompressedFile, RecoversEventsOfTruncatedGzip) {
  const std::string packed = gzip(text_);
  const Trace cut = read_bytes(packed.substr(0, packed.size() / 2));
  EXPECT_EQ(cut.defects.of(Defect::kBrokenCompression), 1);
  EXPECT_EQ(cut.defects.of(Defect::kTruncated), 1);
  EXPECT_GT(cut.size(), 20);
  for (EventId id = 0; id < cut.size(); ++id)
    EXPECT_EQ(event_text(cut, id), event_text(plain_, id));
}

}  // namespace
}  // namespace epi::trace
