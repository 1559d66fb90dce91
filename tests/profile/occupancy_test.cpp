// SPDX-License-Identifier: Apache-2.0
// Compares our occupancy estimate with PyTorch's for every kernel of the H200 traces.
#include "epilogue/profile/occupancy.h"

#include <gtest/gtest.h>

#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"
#include "epilogue/trace/reader.h"
#include "tests/profile/events.h"
#include "tests/profile/gpu_recording.h"

namespace epi::profile {
namespace {

int number(std::string_view args, std::string_view key) {
  return static_cast<int>(trace::parse_integer_token(trace::find_value(args, key).value()).value());
}

std::array<int, 3> triple(std::string_view args, std::string_view key) {
  std::array<int, 3> out{};
  const auto items = trace::array_items(trace::find_value(args, key).value());
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<int>(trace::parse_integer_token(items.at(i)).value());
  }
  return out;
}

class PyTorchOccupancy : public testing::TestWithParam<const char*> {};

TEST_P(PyTorchOccupancy, MatchesOurs) {
  const auto trace = trace::read(std::string(EPI_TEST_DATA) + "/traces/" + GetParam());
  ASSERT_TRUE(trace);
  const GpuDevice device = h200();
  int compared = 0;
  for (const trace::EventId id : events_of(*trace, trace::Category::kKernel)) {
    const auto args = trace->args_of(id);
    const KernelShape shape{number(args, "registers per thread"), number(args, "shared memory"),
                            triple(args, "grid"), triple(args, "block")};
    EXPECT_NEAR(blocks_per_sm(device, shape),
                std::stod(std::string(trace::find_value(args, "blocks per SM").value())), 0.01);
    EXPECT_NEAR(warps_per_sm(device, shape),
                std::stod(std::string(trace::find_value(args, "warps per SM").value())), 0.1);
    const int pytorch = number(args, "est. achieved occupancy %");
    const int ours = estimated_occupancy_percent(device, shape);
    if (shape.shared_bytes <= device.shared_per_block_bytes) {
      EXPECT_EQ(ours, pytorch) << args;
    } else {  // PyTorch prints 0, see occupancy.cpp
      EXPECT_EQ(pytorch, 0) << args;
      EXPECT_GT(ours, 0) << args;
      EXPECT_EQ(max_active_blocks(device, shape), 1) << args;
    }
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(Traces, PyTorchOccupancy,
                         testing::Values("linear_compile.json", "linear_eager.json",
                                         "llama_train.json.gz", "matmul_add_4096.json",
                                         "matmul_add_64.json", "mlp_compile.json",
                                         "mlp_cudagraph.json", "mlp_eager.json", "mlp_liger.json"));

TEST(Occupancy, IsLimitedByEachResource) {
  const GpuDevice device = h200();
  EXPECT_EQ(max_active_blocks(device, {16, 0, {1, 1, 1}, {32, 1, 1}}), 32);      // blocks
  EXPECT_EQ(max_active_blocks(device, {16, 0, {1, 1, 1}, {1024, 1, 1}}), 2);     // warps
  EXPECT_EQ(max_active_blocks(device, {255, 0, {1, 1, 1}, {256, 1, 1}}), 1);     // registers
  EXPECT_EQ(max_active_blocks(device, {16, 75000, {1, 1, 1}, {256, 1, 1}}), 3);  // shared memory
  EXPECT_EQ(max_active_blocks(device, {16, 232449, {1, 1, 1}, {256, 1, 1}}), 0);
  EXPECT_EQ(max_active_blocks(device, {16, 0, {1, 1, 1}, {2048, 1, 1}}), 0);
}

TEST(Occupancy, IsZeroForUnknownDevice) {
  const KernelShape shape{16, 0, {8, 1, 1}, {32, 1, 1}};
  EXPECT_EQ(estimated_occupancy_percent({}, shape), 0);
  EXPECT_EQ(blocks_per_sm({}, shape), 0);
}

}  // namespace
}  // namespace epi::profile
