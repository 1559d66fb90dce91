// SPDX-License-Identifier: Apache-2.0
// The tree of a step: its contents, its order, and the times that folding preserves.
#include "epilogue/report/tree/tree_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <sstream>

#include "epilogue/analysis/names/decode.h"
#include "epilogue/analysis/tree/repeats.h"
#include "epilogue/analysis/tree/tree_lines.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "tests/analysis/test_data.h"
#include "tests/trace/trace_builder.h"

namespace epi::report {
namespace {

using analysis::find_repeats;
using analysis::folded_lines;
using analysis::Forest;
using analysis::full_lines;
using analysis::Repeat;
using analysis::TreeLine;
using analysis::TreeLines;
using analysis::TreeRange;
using trace::TraceBuilder;

constexpr TreeRange kWholeTrace{.begin_ns = INT64_MIN / 4, .end_ns = INT64_MAX / 4};

struct TreeStyle {
  bool full = false;
  std::optional<NameStyle> names{};
};

std::vector<std::string> tree_of(const trace::Trace& trace, const TreeStyle& style = {}) {
  const analysis::TraceIndex index(trace);
  TreeResult result(index, kWholeTrace);
  result.full = style.full;
  result.names = style.names;
  std::istringstream text(text_of(result, {}));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

bool has(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(text) != line.npos; });
}

// Layers of three operators, the second of which launches a kernel. Every `query_every`-th layer
// queries the occupancy before the launch.
TraceBuilder layers(int64_t count, int64_t query_every = 1000) {
  TraceBuilder builder;
  builder.step(1, 0, 100 * count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = 100 * i;
    builder.op("aten::view", at, 5).op("aten::mm", at + 10, 60);
    if (i % query_every == 0) {
      builder.call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", at + 12, 3);
    }
    builder.kernel(i % 2 == 0 ? "even_kernel" : "odd_kernel", at + 20, at + 25, 50);
    builder.op("aten::silu", at + 80, 10);
  }
  return builder;
}

TEST(FindRepeats, CoversTheSequenceInOrder) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<uint64_t> sequence(random() % 60);
    for (uint64_t& element : sequence) element = random() % 3;
    std::vector<uint64_t> expanded;
    for (const Repeat& repeat : find_repeats(sequence)) {
      ASSERT_EQ(repeat.start, expanded.size());
      for (size_t i = 0; i < repeat.period * repeat.times; ++i) {
        expanded.push_back(sequence[repeat.start + i % repeat.period]);
      }
    }
    EXPECT_EQ(expanded, sequence);
  }
}

TEST(FindRepeats, FindsLayersAfterAnEqualOperator) {
  // 1 | 1 2 3 | 1 2 3 | 1 2 3 | 4
  const auto found = find_repeats({1, 1, 2, 3, 1, 2, 3, 1, 2, 3, 4});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[1].start, 1U);
  EXPECT_EQ(found[1].period, 3U);
  EXPECT_EQ(found[1].times, 3U);
}

TEST(Tree, ShowsEveryRuntimeCall) {
  const auto lines = tree_of(layers(2, 1).trace());
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const auto& line) { return line.find("cudaOccupancy") != line.npos; }),
            2);
  EXPECT_FALSE(has(lines, " x ")) << "a short tree is not folded";
}

TEST(Tree, FoldsLayersAndAddsUpTheirTimes) {
  const auto lines = tree_of(layers(1000).trace());
  EXPECT_LE(lines.size(), kMaxTreeLines);
  EXPECT_TRUE(has(lines, "1000 x [aten::view .. aten::silu]"));
  EXPECT_TRUE(has(lines, "1000 x aten::mm"));
  EXPECT_TRUE(has(lines, "> 500 x even_kernel"));
  EXPECT_TRUE(has(lines, "> 500 x odd_kernel"));
  EXPECT_TRUE(has(lines, "50.00 ms")) << "1000 kernels of 50 us";
  EXPECT_TRUE(has(lines, "cudaOccupancyMaxActive"))
      << "a call of one layer is still shown after folding";
  EXPECT_TRUE(has(lines, "--full"));
}

// Ten layers, the seventh with a kernel three times as long as the others.
TEST(Tree, FoldedLinesKnowTheirSlowestEvent) {
  TraceBuilder builder;
  builder.step(1, 0, 2000);
  for (int64_t i = 0; i < 10; ++i) {
    builder.op("aten::mm", 200 * i, 60);
    builder.kernel("k", 200 * i + 20, 200 * i + 25, i == 6 ? 150 : 50);
  }
  const trace::Trace trace = builder.trace();
  const analysis::TraceIndex index(trace);
  const TreeLines tree = folded_lines(index, Forest(index, kWholeTrace), kWholeTrace);
  const auto line = std::find_if(tree.lines().begin(), tree.lines().end(),
                                 [](const TreeLine& one) { return one.name == "aten::mm"; });
  ASSERT_NE(line, tree.lines().end());
  EXPECT_EQ(line->count, 10);
  EXPECT_EQ(line->least_ns, 50'000);
  EXPECT_EQ(line->most_ns, 150'000);
  EXPECT_EQ(trace.ts_ns[line->first], 0);
  EXPECT_EQ(trace.ts_ns[line->slowest], 6 * 200'000);
}

TEST(Tree, FullShowsEveryEvent) {
  // The header, the step, three operators, a launch and a kernel per layer, and one query.
  EXPECT_EQ(tree_of(layers(100).trace(), {.full = true}).size(), 2U + 100 * 5 + 1);
}

TEST(Tree, SeparatesOperatorsBelowCalls) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 300; ++i) {
    builder.op("parent", 100 * i, 90).call("cudaLaunchKernel", 100 * i, 80);
    builder.op(i % 2 == 0 ? "even_op" : "odd_op", 100 * i + 1, 50);
  }
  const auto lines = tree_of(builder.trace());
  EXPECT_TRUE(has(lines, "150 x even_op"));
  EXPECT_TRUE(has(lines, "150 x odd_op"));
}

TEST(Tree, ShowsNamesOfHiddenEvents) {
  TraceBuilder builder = layers(60);
  // Far more lines than fit on a screen, each with a different name.
  for (int64_t i = 0; i < 300; ++i) {
    builder.op("aten::op_" + std::string(1 + i % 20, 'x') + std::string(i / 20, 'y'), 6000 + 10 * i,
               1 + i % 7);
  }
  builder.call("cudaOccupancyMaxActiveClusters", 9500, 0);
  const auto lines = tree_of(builder.trace());
  EXPECT_LE(lines.size(), kMaxTreeLines);
  EXPECT_TRUE(has(lines, "cudaOccupancyMaxActiveCl"));
}

TEST(Tree, StartsAtTheMainThread) {
  TraceBuilder builder;
  builder.op("aten::prefetch", 0, 90).op("aten::mm", 10, 60, {.thread = 2});
  builder.kernel("kernel", 20, 25, 50, {.thread = 2});
  const auto lines = tree_of(builder.trace());
  ASSERT_GE(lines.size(), 3U);
  EXPECT_EQ(lines[1], "thread 2") << "the first thread in the file launches nothing";
}

TEST(Tree, AppliesNameStyle) {
  const std::string name =
      "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_gelu_splitK_NNT_and_a_suffix_that_is_too_"
      "long";
  TraceBuilder builder;
  builder.op("aten::mm", 0, 60).kernel(name, 20, 25, 50);
  const trace::Trace trace = builder.trace();
  const std::string sentence = kernel_sentence(name, analysis::decode_name(name));
  TreeStyle options;
  EXPECT_FALSE(has(tree_of(trace, options), name))
      << "a name that is too long for its column is decoded";
  EXPECT_TRUE(has(tree_of(trace, options), sentence.substr(0, 20)));
  options.names = NameStyle::kRaw;
  EXPECT_TRUE(has(tree_of(trace, options), name));
  EXPECT_FALSE(has(tree_of(trace, options), sentence));
  options.names = NameStyle::kDecoded;
  EXPECT_TRUE(has(tree_of(trace, options), sentence));
  EXPECT_FALSE(has(tree_of(trace, options), name));
  options.names = NameStyle::kBoth;
  EXPECT_TRUE(has(tree_of(trace, options), name));
  EXPECT_TRUE(has(tree_of(trace, options), sentence));
}

// Folding and hiding lines keeps the total times and event counts.
TEST(Tree, FoldingLosesNoTime) {
  const std::filesystem::path data(EPI_TEST_DATA);
  for (const char* file : analysis::kTraces) {
    const auto read = trace::read((data / file).string());
    ASSERT_TRUE(read) << file;
    const analysis::TraceIndex index(*read);
    const Forest forest(index, kWholeTrace);
    const TreeLines full = full_lines(index, forest, kWholeTrace);
    const TreeLines folded = folded_lines(index, forest, kWholeTrace);
    const auto sums = [](const TreeLines& tree) {
      int64_t self_ns = 0;
      int64_t device_ns = 0;
      int64_t events = 0;
      for (const TreeLine& line : tree.lines()) {
        if (line.is_thread || line.is_sequence) continue;
        self_ns += line.self_ns;
        device_ns += line.device ? line.device_ns : 0;
        events += line.count;
      }
      return std::tuple(self_ns, device_ns, events);
    };
    EXPECT_EQ(sums(full), sums(folded)) << file;
    TreeStyle named;
    for (const auto style : {std::optional<NameStyle>(), std::optional(NameStyle::kBoth)}) {
      named.names = style;
      EXPECT_LE(tree_of(*read, named).size(), kMaxTreeLines) << file;
    }
  }
}

}  // namespace
}  // namespace epi::report
