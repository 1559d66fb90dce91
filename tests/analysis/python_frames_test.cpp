// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/python_frames.h"

#include <gtest/gtest.h>

#include "tests/analysis/synthetic_trace.h"

namespace epi::analysis {
namespace {

std::string name_or_empty(const trace::Trace& trace, trace::EventId id) {
  return id == trace::kNoEvent ? "" : std::string(trace.name_of(id));
}

TEST(PythonFrames, FindsTheInnermostFunctionAndModule) {
  SyntheticTrace builder;
  builder.host("python_function", "train.py(1): main", 0, 100);
  builder.host("python_function", "nn.Module: Block_0", 10, 40);
  builder.host("python_function", "block.py(7): forward", 20, 10);
  builder.host("python_function", "train.py(9): log", 60, 10);
  builder.host("cpu_op", "aten::mm", 22, 2);
  const trace::Trace trace = builder.trace();
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

}  // namespace
}  // namespace epi::analysis
