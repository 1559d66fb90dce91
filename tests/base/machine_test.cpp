// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/machine.h"

#include <gtest/gtest.h>

#include "epilogue/base/error.h"

namespace epi {
namespace {

TEST(Machine, ReportsCpuAndMemory) {
  EXPECT_FALSE(cpu_name().empty());
  EXPECT_GT(available_memory_bytes(), int64_t{1} << 20);
#if defined(__aarch64__)
  EXPECT_EQ(cpu_isa(), Isa::kBaseline);
#endif
}

TEST(Error, FailedCheckReportsFileAndCondition) {
  const int one = 1;
  try {
    EPI_CHECK(one == 2);
    FAIL() << "the check passed";
  } catch (const BugError& bug) {
    EXPECT_NE(std::string(bug.what()).find("machine_test.cpp"), std::string::npos);
    EXPECT_NE(std::string(bug.what()).find("one == 2"), std::string::npos);
  }
}

TEST(Error, MessageStartsWithTheOperator) {
  try {
    fail("mm", "inner sizes differ: {} and {}", 3, 4);
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[mm] inner sizes differ: 3 and 4");
  }
}

}  // namespace
}  // namespace epi
