// SPDX-License-Identifier: Apache-2.0
// The HTML text of the page. tests/browser checks drawing and interaction.
#include "epilogue/report/page/page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>

#include "epilogue/analysis/step/breakdown.h"
#include "epilogue/report/description/words.h"
#include "epilogue/report/text/text.h"
#include "tests/analysis/modeled_trace.h"
#include "tests/trace/trace_builder.h"

namespace epi::report {
namespace {

using trace::TraceBuilder;

constexpr size_t kMax = 25'000'000;

std::string page_of(const TraceBuilder& builder) {
  const analysis::ModeledTrace made(builder.trace());
  return page_html({{"made.json", made.models}});
}

size_t count_of(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Page, EscapesHostileNames) {
  const std::string plain = page_of(TraceBuilder().op("aten::mm", 0, 10));
  const std::string hostile = page_of(TraceBuilder()
                                          .op("</script><script>alert(1)</script><!--", 0, 10)
                                          .op("{policy}{style}{script}{data}", 20, 10));
  EXPECT_EQ(count_of(hostile, "<script"), count_of(plain, "<script"));
  EXPECT_EQ(count_of(hostile, "</script"), count_of(plain, "</script"));
  EXPECT_EQ(count_of(hostile, "<!--"), count_of(plain, "<!--"));
  EXPECT_EQ(count_of(hostile, "alert(1)"), 3U) << "in the table, the timeline and the tree";
}

TEST(Page, LoadsNoExternalResources) {
  std::string page = page_of(TraceBuilder().op("aten::mm", 0, 10));
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  // Names in the SVG that the page exports. Nothing is loaded from them.
  for (const std::string name : {"http://www.w3.org/2000/svg", "url(#"}) {
    while (page.find(name) != std::string::npos) page.erase(page.find(name), name.size());
  }
  for (const char* source : {"http:", "https:", "src=", "@import", "url("}) {
    EXPECT_EQ(page.find(source), std::string::npos) << source;
  }
}

// Every event has a distinct long name, 40 MB in total.
TEST(Page, StaysBelow25Megabytes) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 100'000; ++i) {
    builder.op(fmt::format("{}{}", i, std::string(400, 'x')), i, 1);
  }
  const std::string page = page_of(builder);
  EXPECT_LE(page.size(), kMax);
  EXPECT_EQ(page.find(R"("left_out": 0, "notes")"), std::string::npos)
      << "the page reports omitted events";
}

// Two traces with 20,000 distinct annotations, all of which are compared.
TEST(Page, ComparisonStaysBelow25Megabytes) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 20'000; ++i) {
    builder.annotation(fmt::format("{}{}", i, std::string(300, 'x')), 2 * i, 1);
  }
  const analysis::ModeledTrace made(builder.trace());
  const std::string page = page_html({{"a.json", made.models}, {"b.json", made.models}});
  EXPECT_LE(page.size(), kMax);
}

// The size of the page does not depend on the number of streams beyond the 64 that it shows.
TEST(Page, LeavesOutStreams) {
  const auto with_streams = [](int64_t streams) {
    TraceBuilder builder;
    builder.op("aten::mm", 0, 10);
    for (int64_t i = 0; i < streams; ++i) builder.unlaunched("k", 2 * i, 2, {.stream = i});
    return page_of(builder);
  };
  const std::string few = with_streams(64);
  const std::string many = with_streams(2000);
  EXPECT_LT(many.size(), few.size() + 30'000);
  EXPECT_EQ(few.find("further stream"), std::string::npos);
  EXPECT_NE(many.find("1936 further streams with 96.8 % of the GPU time left out"),
            std::string::npos);
}

// The sum of the numbers in the list, or list of lists, that follows `key`.
int64_t sum_after(const std::string& text, const std::string& key, size_t from) {
  const size_t begin = text.find(key, from) + key.size();
  int64_t sum = 0;
  int64_t number = 0;
  for (size_t i = begin, depth = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      number = 10 * number + (c - '0');
      continue;
    }
    sum += number;
    number = 0;
    if (c == '[') ++depth;
    if (c == ']' && --depth == 0) break;
  }
  return sum;
}

// The idle time of the page is that of `breakdown`, even if it draws only the longest intervals.
TEST(Page, SumsUpIdleTimeThatItDoesNotDraw) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 60'000; ++i) builder.kernel("k", 10 * i, 10 * i + 5, 4, {.call_dur = 2});
  const analysis::ModeledTrace made(builder.trace());
  const std::string page = page_html({{"made.json", made.models}});
  const size_t idle = page.find(R"("idle": [{"pid": )");
  ASSERT_NE(idle, std::string::npos);
  const int64_t left_out = sum_after(page, R"("left_out": )", idle);
  EXPECT_GT(left_out, 0);
  // The page also has the time before the first kernel.
  EXPECT_EQ(left_out + sum_after(page, R"("dur": )", idle),
            5000 + analysis::breakdown(made.models)[0].shares.idle_ns);
}

// Every cause and activity belongs to a class with words, and no idle time is lost.
TEST(IdleClass, CoversAllIdleTime) {
  analysis::IdleCauses causes;
  int64_t all = 0;
  for (size_t i = 0; i < causes.host.size(); ++i) all += causes.host[i] = 1 << i;
  for (int64_t* ns : {&causes.launch_latency_ns, &causes.between_ns, &causes.not_in_file_ns,
                      &causes.unknown_ns}) {
    all += * ns = 1000;
  }
  EXPECT_EQ(causes.total_ns(), all);
  const analysis::IdleClassTimes sums = sums_by_class(causes);
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), int64_t{0}), all);
  std::set<std::string> keys;
  std::set<char> letters;
  for (size_t i = 0; i < analysis::kIdleClasses; ++i) {
    const IdleClassWords& words = words_of(static_cast<analysis::IdleClass>(i));
    keys.insert(words.key);
    letters.insert(words.letter);
  }
  EXPECT_EQ(keys.size(), analysis::kIdleClasses);
  EXPECT_EQ(letters.size(), analysis::kIdleClasses);
}

TEST(Text, IsTruncatedBetweenCharacters) {
  EXPECT_EQ(utf8_prefix("aβγ", 9), "aβγ");
  EXPECT_EQ(utf8_prefix("aβγ", 4), "aβ");
  EXPECT_EQ(utf8_prefix("aβγ", 3), "aβ");
  EXPECT_EQ(utf8_prefix("aβγ", 2), "a");
  EXPECT_EQ(utf8_prefix("βγ", 1), "");
}

}  // namespace
}  // namespace epi::report
