// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/python_frames.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/trace/trace_builder.h"

namespace epi::analysis {
namespace {

std::string name_or_empty(const trace::Trace& trace, trace::EventId id) {
  return id == trace::kNoEvent ? "" : std::string(trace.name_of(id));
}

TEST(PythonFrames, FindsTheInnermostFunctionAndModule) {
  const trace::Trace trace = trace::TraceBuilder()
                                 .frame("train.py(1): main", 0, 100)
                                 .frame("nn.Module: Block_0", 10, 40)
                                 .frame("block.py(7): forward", 20, 10)
                                 .frame("train.py(9): log", 60, 10)
                                 .op("aten::mm", 22, 2)
                                 .trace();
  const PythonFrames frames(trace);
  const trace::LaneId lane = trace.lane[0];
  const auto at = [&](int64_t us) {
    const PythonFrames::Running running = frames.at(lane, 1000 * us);
    return std::pair(name_or_empty(trace, running.function), name_or_empty(trace, running.module));
  };
  using Names = std::pair<std::string, std::string>;
  EXPECT_EQ(at(5), Names("train.py(1): main", ""));
  EXPECT_EQ(at(25), Names("block.py(7): forward", "nn.Module: Block_0"));
  EXPECT_EQ(at(40), Names("nn.Module: Block_0", "nn.Module: Block_0"));
  EXPECT_EQ(at(55), Names("train.py(1): main", "")) << "the module has ended";
  EXPECT_EQ(at(65), Names("train.py(9): log", ""));
  EXPECT_EQ(at(150), Names("", "")) << "after the last function";
}

// Random nested frames, some of them deep, against a search of all of them.
TEST(PythonFrames, FindsFramesAtAnyDepth) {
  std::mt19937 random(5);
  const auto between = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int run = 0; run < 20; ++run) {
    trace::TraceBuilder builder;
    struct Span {
      int begin, end;
    };
    std::vector<Span> spans;
    const auto nest = [&](const auto& self, int begin, int end) -> void {
      while (begin + 2 < end && spans.size() < 300) {
        const Span span{begin, between(begin + 1, end - 1)};
        builder.frame(between(0, 3) == 0 ? "nn.Module: Block" : "f.py(1): f", span.begin,
                      span.end - span.begin);
        spans.push_back(span);
        self(self, span.begin + 1, span.end);
        begin = span.end + between(0, 4);
      }
    };
    nest(nest, 0, 1000);
    const trace::Trace trace = builder.trace();
    const PythonFrames frames(trace);
    for (int us = 0; us < 1000; ++us) {
      PythonFrames::Running want;
      for (trace::EventId id = 0; id < trace.size(); ++id) {  // nested ones come later
        if (spans[id].begin > us || spans[id].end <= us) continue;
        want.function = id;
        if (trace.name_of(id).starts_with("nn.Module")) want.module = id;
      }
      const PythonFrames::Running got = frames.at(trace.lane[0], 1000 * us);
      ASSERT_EQ(got.function, want.function) << run << " at " << us;
      ASSERT_EQ(got.module, want.module) << run << " at " << us;
    }
  }
}

}  // namespace
}  // namespace epi::analysis
