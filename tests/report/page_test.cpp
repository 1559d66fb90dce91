// SPDX-License-Identifier: Apache-2.0
// The HTML text of the page. tests/browser checks drawing and interaction.
#include "epilogue/report/page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>

#include "epilogue/report/idle_class.h"
#include "epilogue/report/text.h"
#include "epilogue/trace/reader.h"

namespace epi::report {
namespace {

constexpr size_t kMax = 25'000'000;

std::string event(const std::string& name, int64_t begin, int64_t dur) {
  return fmt::format(
      R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":1,"tid":1,"ts":{},"dur":{},"args":{{}}}})",
      name, begin, dur);
}

std::string page_of(const std::string& events) {
  const trace::Trace trace = trace::read_bytes("[" + events + "]", "made").value();
  const analysis::TraceIndex index(trace);
  return page_html({{"made.json", index}});
}

size_t count_of(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Page, EscapesHostileNames) {
  const std::string plain = page_of(event("aten::mm", 0, 10));
  const std::string hostile = page_of(event("</script><script>alert(1)</script><!--", 0, 10) + "," +
                                      event("{policy}{style}{script}{data}", 20, 10));
  EXPECT_EQ(count_of(hostile, "<script"), count_of(plain, "<script"));
  EXPECT_EQ(count_of(hostile, "</script"), count_of(plain, "</script"));
  EXPECT_EQ(count_of(hostile, "<!--"), count_of(plain, "<!--"));
  EXPECT_EQ(count_of(hostile, "alert(1)"), 3U) << "in the table, the timeline and the tree";
}

TEST(Page, LoadsNoExternalResources) {
  std::string page = page_of(event("aten::mm", 0, 10));
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
  std::string events;
  for (int64_t i = 0; i < 100'000; ++i) {
    events += (i == 0 ? "" : ",") + event(fmt::format("{}{}", i, std::string(400, 'x')), i, 1);
  }
  const std::string page = page_of(events);
  EXPECT_LE(page.size(), kMax);
  EXPECT_EQ(page.find(R"("left_out": 0, "notes")"), std::string::npos)
      << "the page reports omitted events";
}

// Two traces with 20,000 distinct annotations, all of which are compared.
TEST(Page, ComparisonStaysBelow25Megabytes) {
  std::string events;
  for (int64_t i = 0; i < 20'000; ++i) {
    events += fmt::format(
        R"({}{{"ph":"X","cat":"user_annotation","name":"{}{}","pid":1,"tid":1,"ts":{},"dur":1,"args":{{}}}})",
        i == 0 ? "" : ",", i, std::string(300, 'x'), 2 * i);
  }
  const trace::Trace trace = trace::read_bytes("[" + events + "]", "made").value();
  const analysis::TraceIndex index(trace);
  const std::string page = page_html({{"a.json", index}, {"b.json", index}});
  EXPECT_LE(page.size(), kMax);
}

// The size of the page does not depend on the number of streams beyond the 64 that it shows.
TEST(Page, LeavesOutStreams) {
  const auto with_streams = [](int64_t streams) {
    std::string events = event("aten::mm", 0, 10);
    for (int64_t i = 0; i < streams; ++i) {
      events += fmt::format(
          R"(,{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":{},"ts":{},"dur":2,"args":{{}}}})",
          i, 2 * i);
    }
    return page_of(events);
  };
  const std::string few = with_streams(64);
  const std::string many = with_streams(2000);
  EXPECT_LT(many.size(), few.size() + 30'000);
  EXPECT_EQ(few.find("further stream"), std::string::npos);
  EXPECT_NE(many.find("1936 further streams with 96.8 % of the GPU time left out"),
            std::string::npos);
}

// Every cause and activity belongs to a class with words, and no idle time is lost.
TEST(IdleClass, CoversAllIdleTime) {
  analysis::IdleCauses causes;
  int64_t all = 0;
  for (size_t i = 0; i < causes.host.size(); ++i) all += causes.host[i] = 1 << i;
  for (int64_t* ns : {&causes.launch_latency_ns, &causes.between_ns, &causes.other_streams_ns,
                      &causes.other_steps_ns, &causes.not_in_file_ns, &causes.unknown_ns}) {
    all += * ns = 1000;
  }
  const IdleClassTimes sums = sums_by_class(causes);
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), int64_t{0}), all);
  std::set<std::string> keys;
  std::set<char> letters;
  for (size_t i = 0; i < kIdleClasses; ++i) {
    const IdleClassWords& words = words_of(static_cast<IdleClass>(i));
    keys.insert(words.key);
    letters.insert(words.letter);
  }
  EXPECT_EQ(keys.size(), kIdleClasses);
  EXPECT_EQ(letters.size(), kIdleClasses);
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
