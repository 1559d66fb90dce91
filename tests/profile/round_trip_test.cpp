// SPDX-License-Identifier: Apache-2.0
// A recorded trace is equal after writing and reading it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/profile/profiler.h"
#include "epilogue/tensor/factories.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/reader.h"
#include "epilogue/trace/writer.h"
#include "tests/trace/same_trace.h"

namespace epi::profile {
namespace {

trace::Trace record_trace() {
  nn::GluMlp mlp(16, 32);
  nn::init_normal(mlp, 1);
  const Tensor x = zeros({2, 4, 16});
  Profiler profiler({.record_shapes = true, .profile_memory = true, .schedule = Schedule{1, 1, 3}});
  for (int i = 0; i < 5; ++i) {
    {
      const RecordFunction range("a \"name\"\twith \\ and \xC3\xA9");
      mlp.forward(x);
    }
    profiler.step();
  }
  return profiler.take_trace();
}

TEST(RoundTrip, PreservesEveryEvent) {
  const trace::Trace written = record_trace();
  for (const char* ending : {".json", ".json.gz", ".json.zst"}) {
    const std::string path =
        testing::TempDir() + "/epilogue_round_trip_" + std::to_string(::getpid()) + ending;
    ASSERT_TRUE(trace::write(written, path));
    const auto read = trace::read(path);
    std::filesystem::remove(path);
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->defects.empty());
    EXPECT_EQ(read->base_time_ns, written.base_time_ns);
    EXPECT_EQ(read->properties, written.properties);
    trace::expect_same_events(*read, written, false);
    // In a file, the arguments also contain the ids. The original arguments are unchanged.
    for (trace::EventId id = 0; id < written.size(); ++id) {
      for (const auto& [key, value] : trace::object_members(written.args_of(id))) {
        ASSERT_EQ(trace::find_value(read->args_of(id), key), value);
      }
    }
    // A second round trip changes nothing.
    ASSERT_TRUE(trace::write(*read, path));
    const auto second = trace::read(path);
    std::filesystem::remove(path);
    ASSERT_TRUE(second);
    trace::expect_same_events(*second, *read);
  }
}

}  // namespace
}  // namespace epi::profile
