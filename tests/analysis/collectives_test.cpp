// SPDX-License-Identifier: Apache-2.0
// The collectives of one rank: kind, group, size, order.
#include "epilogue/analysis/ranks/collectives.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "epilogue/trace/reader.h"
#include "tests/trace/trace_builder.h"

namespace epi::analysis {
namespace {

using trace::TraceBuilder;

TEST(Collectives, KindsHaveOneName) {
  for (const char* name :
       {"nccl:all_reduce", "c10d::allreduce_", "allreduce", "nccl:all_reduce_coalesced",
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)"}) {
    EXPECT_EQ(collective_kind(name), "all_reduce") << name;
  }
  EXPECT_EQ(collective_kind("nccl:_all_gather_base"), "all_gather");
  EXPECT_EQ(collective_kind("c10d::allgather_into_tensor_coalesced_"), "all_gather");
  EXPECT_EQ(collective_kind("_reduce_scatter_base"), "reduce_scatter");
  EXPECT_EQ(collective_kind("c10d::reduce_scatter_tensor_coalesced_"), "reduce_scatter");
  EXPECT_EQ(collective_kind("c10d::reduce_"), "reduce");
  EXPECT_EQ(collective_kind("all_to_allv"), "all_to_all");
  EXPECT_EQ(collective_kind("c10d::alltoall_base_"), "all_to_all");
  EXPECT_EQ(collective_kind("nccl:gather"), "gather");
  EXPECT_EQ(collective_kind("nccl:send 0->1"), "send");
  EXPECT_EQ(collective_kind("c10d::recv_"), "recv");
  EXPECT_EQ(collective_kind("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)"), "send_recv");
  EXPECT_EQ(collective_kind("c10d::monitored_barrier_"), "monitored_barrier");
}

TEST(Collectives, OperatorNamesTheKindAndTheKernelTheTime) {
  const trace::OnDevice stream = {.stream = 20};
  const trace::Trace trace =
      TraceBuilder()
          .op("record_param_comms", 100, 90,
              {.args = R"({"Collective name": "_allgather_base", "In msg nelems": 10, )"
                       R"("Out msg nelems": 80, "Group size": 8, "dtype": "BFloat16", )"
                       R"("Process Group Name": "tp"})"})
          .annotation("nccl:_all_gather_base", 110, 70)
          .kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", 120, 500, 50, stream)
          .op("c10d::allreduce_", 300, 90)
          .annotation("nccl:all_reduce", 310, 70,
                      {.args = R"({"Input Dims": [[4, 5], [2]], "Input type": ["float", "long"]})"})
          .kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 320, 400, 50, stream)
          // Launched by nothing that is recorded, with the arguments of newer files.
          .unlaunched("ncclDevKernel_Generic(x)", 900, 50,
                      {.stream = 20,
                       .args = R"({"Collective name": "broadcast", "Process Group ID": 3, )"
                               R"("Group size": -1})"})
          .op("record_param_comms", 600, 90, {.args = R"({"Collective name": "wait"})"})
          .kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 620, 700, 50, stream)
          .trace();
  const auto found = collectives(TraceIndex(trace));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].kind, "all_gather");
  EXPECT_EQ(found[0].group, "tp");
  EXPECT_EQ(found[0].group_size, 8);
  EXPECT_EQ(found[0].in_bytes, 20);
  EXPECT_EQ(found[0].out_bytes, 160);
  EXPECT_EQ(trace.ts_ns[found[0].kernel], 500000);  // launched first, but runs second
  EXPECT_EQ(found[1].kind, "all_reduce");
  EXPECT_EQ(found[1].group, "");
  EXPECT_EQ(found[1].group_size, std::nullopt);
  EXPECT_EQ(found[1].in_bytes, 4 * 20 + 8 * 2);
  EXPECT_EQ(found[1].out_bytes, std::nullopt);
  EXPECT_EQ(found[2].kind, "broadcast");
  EXPECT_EQ(found[2].group, "3");
  EXPECT_EQ(found[2].group_size, std::nullopt);  // -1 is not a size
  EXPECT_EQ(found[2].in_bytes, std::nullopt);
  for (const Collective& collective : found) EXPECT_EQ(collective.position, 0);  // three groups
}

// The values come from tests/analysis/collectives_of_ranks.py, which reads the files by itself.
TEST(Collectives, EqualAnIndependentScript) {
  const auto folder =
      std::filesystem::path(EPI_TEST_DATA) / "../../../shared/data/peers/dlrm_8_ranks";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no traces of 8 ranks";
  struct Sum {
    int64_t count = 0, bytes = 0, ns = 0;
    bool operator==(const Sum&) const = default;
  };
  std::map<std::string, Sum> sums;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const auto trace = trace::read(file.path());
    ASSERT_TRUE(trace) << trace.error().message;
    for (const Collective& collective : collectives(TraceIndex(*trace))) {
      Sum& sum = sums[collective.kind];
      ++sum.count;
      sum.bytes += collective.in_bytes.value_or(0);
      sum.ns += trace->dur_ns[collective.kernel];
    }
  }
  const std::map<std::string, Sum> expected = {{"all_to_all", {40, 515584, 37935000}},
                                               {"all_reduce", {24, 19882016, 10607000}}};
  EXPECT_EQ(sums, expected);
}

}  // namespace
}  // namespace epi::analysis
