// SPDX-License-Identifier: Apache-2.0
// Compares the fast and the tolerant parser, and windows of several sizes with a single window.
// Also covers truncated and broken files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "epilogue/trace/fast_parser.h"
#include "epilogue/trace/reader.h"
#include "epilogue/trace/tolerant_parser.h"
#include "epilogue/trace/windows.h"
#include "tests/trace/same_trace.h"
#include "tests/trace/test_files.h"

namespace epi::trace {
namespace {

// The text between the brackets of the event list of a complete file.
std::string events_text(const std::string& file) {
  const std::string text = unpacked_text(data_path(file));
  const Head head = parse_head(text);
  Trace trace;
  EventBuilder builder(trace);
  RescanBudget budget(text.size());
  const EventsEnd end =
      parse_events_tolerantly(std::string_view(text).substr(head.events_begin), 0, builder, budget);
  return text.substr(head.events_begin, end.position - 1);
}

Trace with_text(Trace trace, const std::string& text) {
  const auto owner = std::make_shared<const std::string>(text);
  trace.args_text = {owner, owner->data()};
  return trace;
}

Trace parse_tolerantly(const std::string& text) {
  Trace trace;
  EventBuilder builder(trace);
  RescanBudget budget(text.size());
  parse_events_tolerantly(text, 0, builder, budget);
  return with_text(std::move(trace), text);
}

ParsedEvents parse_windows(const std::string& text, size_t window_bytes) {
  return parse_in_windows(InputText(text, nullptr), 0, nullptr, window_bytes);
}

TEST(Parsers, AgreeOnEveryTrace) {
  FastParser fast;
  for (const std::string& file : all_traces()) {
    SCOPED_TRACE(file);
    const std::string text = events_text(file);
    Trace trace;
    EventBuilder builder(trace);
    std::copy(text.begin(), text.end(), fast.prepare(text.size()));
    ASSERT_TRUE(fast.parse(text.size(), 0, builder));
    const Trace other = parse_tolerantly(text);
    EXPECT_TRUE(other.defects.empty());
    expect_same_events(with_text(std::move(trace), text), other);
  }
}

TEST(Parsers, AgreeForEveryWindowSize) {
  const std::string text = events_text("traces/mlp_eager.json") + "]";
  const Trace whole = parse_tolerantly(text);
  for (const size_t window : {1, 100, 300, 1000, 5000, 20000}) {
    SCOPED_TRACE(window);
    ParsedEvents parsed = parse_windows(text, window);
    EXPECT_TRUE(parsed.list_ended);
    EXPECT_EQ(parsed.end, text.size());
    expect_same_events(with_text(std::move(parsed.trace), text), whole);
  }
}

// Strings and nested objects that look like events must not be taken for window boundaries.
TEST(Parsers, IgnoreEventsInStringsAndArguments) {
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += fmt::format(
        R"({{"ph": "X", "name": "[{{\"ph\": 1}},{{\"ph\"", "ts": {}, "dur": 1, "pid": 1, "tid": 1, "args": {{"list": [{{"x": 1}},{{"ph": "X", "name": "inner", "ts": 1, "dur": 1}}]}}}},)",
        i);
  }
  text.back() = ']';
  for (size_t window = 1; window < 400; window += 7) {
    ParsedEvents parsed = parse_windows(text, window);
    ASSERT_EQ(parsed.trace.size(), 50) << window;
    ASSERT_TRUE(parsed.trace.defects.empty()) << parsed.trace.defects.lines().front();
  }
}

// Objects in the arguments start like events, and windows end between them.
TEST(Parsers, IgnoreObjectsInArgumentLists) {
  for (const char* key : {"id", "ts", "name", "ph", "args"}) {
    std::string text;
    for (int i = 0; i < 60; ++i) {
      text += fmt::format(
          R"({{"ph": "X", "name": "e{0}", "ts": {0}, "dur": 1, "pid": 1, "tid": 1, "args": {{"l": [{{"{1}": "a"}},{{"{1}": "b", "c": [{{"{1}": 1}}, {{"{1}": 2}}]}}]}}}},)",
          i, key);
    }
    text.back() = ']';
    for (size_t window = 1; window < 700; window += 13) {
      const ParsedEvents parsed = parse_windows(text, window);
      ASSERT_EQ(parsed.trace.size(), 60) << key << " " << window;
      ASSERT_TRUE(parsed.list_ended);
      ASSERT_TRUE(parsed.trace.defects.empty()) << parsed.trace.defects.lines().front();
      ASSERT_EQ(parsed.trace.name_of(59), "e59");
    }
  }
}

TEST(Parsers, DropOnlyTheUnterminatedEvent) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text +=
        fmt::format(R"({{"ph": "X", "name": "e", "ts": {}, "dur": 1, "args": {{"a": [1, 2])", i);
    text += i % 10 == 5 ? "," : "}},";
  }
  text.back() = ']';
  for (const size_t window : {size_t{50}, size_t{300}, kWindowBytes}) {
    const ParsedEvents parsed = parse_windows(text, window);
    EXPECT_EQ(parsed.trace.size(), 90) << window;
    EXPECT_EQ(parsed.trace.defects.of(Defect::kBrokenEvent), 10) << window;
    EXPECT_TRUE(parsed.list_ended);
  }
}

// A long tail without events must not be parsed to its end by every window.
TEST(Parsers, ReadTailWithoutEventsOnce) {
  std::string text = R"({"ph": "X", "name": "e", "ts": 1, "dur": 1}], "zz": [)";
  for (int i = 0; i < 200'000; ++i) text += R"({"k": 1, "w": "x"},)";
  text.back() = ']';
  const ParsedEvents parsed = parse_windows(text, 1000);
  EXPECT_EQ(parsed.trace.size(), 1);
  EXPECT_TRUE(parsed.trace.defects.empty());
}

TEST(Parsers, RecoverEventsOfTruncatedFile) {
  const std::string text = file_text(data_path("traces/linear_eager.json"));
  const auto whole = read_bytes(text, "whole");
  ASSERT_TRUE(whole);
  const size_t events_begin = parse_head(text).events_begin;
  size_t last_size = 0;
  for (size_t size = 0; size < text.size(); ++size) {
    const auto cut = read_bytes(text.substr(0, size), "cut");
    if (size <= events_begin) continue;  // an error or an empty list
    if (!cut) {
      ASSERT_EQ(last_size, 0) << cut.error().message;
      continue;
    }
    ASSERT_GE(cut->size(), last_size) << size;
    last_size = cut->size();
    if (last_size > 0) {
      ASSERT_EQ(event_text(*cut, cut->size() - 1), event_text(*whole, cut->size() - 1));
    }
  }
  EXPECT_EQ(last_size, whole->size());
}

struct Broken {
  const char* what;
  std::string text;  // of an event between two valid ones
  Defect defect;
  const char* name;  // of the event, or null if the event is dropped
};

TEST(Parsers, RecoverBrokenEvents) {
  const std::string rest = R"(, "pid": 1, "tid": 1, "ts": 1, "dur": 1)";
  const Broken cases[] = {
      {"quotes inside", R"({"ph": "X", "name": "say "hello" now")" + rest + "}",
       Defect::kQuoteInString, "say \"hello\" now"},
      {"one quote", R"({"ph": "X", "name": "a "b")" + rest + "}", Defect::kQuoteInString, "a \"b"},
      {"control bytes", "{\"ph\": \"X\", \"name\": \"a\x10\nb\"" + rest + "}", Defect::kControlByte,
       "a\x10\nb"},
      {"invalid UTF-8", "{\"ph\": \"X\", \"name\": \"\xD6\x41\"" + rest + "}", Defect::kInvalidUtf8,
       "\xEF\xBF\xBD\x41"},
      {"bad escape", R"({"ph": "X", "name": "C:\dir")" + rest + "}", Defect::kBadEscape, "C:\\dir"},
      {"trailing comma", R"({"ph": "X", "name": "t")" + rest + ", }", Defect::kStrayComma, "t"},
      {"two commas", R"({"ph": "X", "name": "t")" + rest + "},", Defect::kStrayComma, "t"},
      {"bare word", R"({"ph": "X", "name": "w")" + rest + R"(, "args": {"bw": N/A})" + ", }",
       Defect::kStrayComma, "w"},
      {"garbage", R"({"ph": "X", "name" 5 5})", Defect::kBrokenEvent, nullptr},
  };
  for (const Broken& broken : cases) {
    SCOPED_TRACE(broken.what);
    const std::string good =
        R"({"ph": "X", "name": "good", "pid": 1, "tid": 1, "ts": 1, "dur": 1})";
    const auto trace = read_bytes(fmt::format("[{0},\n{1},\n{0}]", good, broken.text), "broken");
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->size(), broken.name == nullptr ? 2 : 3);
    EXPECT_EQ(trace->name_of(0), "good");
    EXPECT_EQ(trace->name_of(trace->size() - 1), "good");
    EXPECT_EQ(trace->name_of(1), broken.name == nullptr ? "good" : broken.name);
    EXPECT_GE(trace->defects.of(broken.defect), 1);
  }
}

TEST(Parsers, AcceptUnquotedWordsAndQuotedNumbers) {
  const auto trace = read_bytes(
      R"x([{"ph": "X", "cat": "gpu_memcpy", "name": "m", "pid": 0, "tid": 7, "ts": "1.5", "dur": "2",
            "args": {"correlation": "9", "memory bandwidth (GB/s)": N/A, "blocks per SM": "inf"}}])x",
      "words");
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->size(), 1);
  EXPECT_EQ(trace->ts_ns[0], 1500);
  EXPECT_EQ(trace->dur_ns[0], 2000);
  EXPECT_EQ(trace->correlation[0], 9);
}

}  // namespace
}  // namespace epi::trace
