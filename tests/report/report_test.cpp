// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "epilogue/report/text/table.h"
#include "epilogue/report/text/units.h"

namespace epi::report {
namespace {

TEST(Units, BytesHaveFourDigitsAndAUnit) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(640), "640 B");
  EXPECT_EQ(bytes_text(1500), "1.500 kB");
  EXPECT_EQ(bytes_text(151e6), "151.0 MB");
  EXPECT_EQ(bytes_text(999.96e6), "1.000 GB");
  EXPECT_EQ(bytes_text(3.7e19), "37.00 EB");
}

TEST(Units, FlopsHaveFourDigitsAndAUnit) {
  EXPECT_EQ(flops_text(68), "68 FLOP");
  EXPECT_EQ(flops_text(115.9e9), "115.9 GFLOP");
}

TEST(Units, TimesUseNanosecondsToSeconds) {
  EXPECT_EQ(time_text(850), "850 ns");
  EXPECT_EQ(time_text(12400), "12.40 us");
  EXPECT_EQ(time_text(4.621e8), "462.1 ms");
  EXPECT_EQ(time_text(1.5e9), "1.500 s");
  EXPECT_EQ(time_text(7.2e12), "7200.0 s");
}

TEST(Units, CountsUsePlurals) {
  EXPECT_EQ(plural(1, "kernel"), "1 kernel");
  EXPECT_EQ(plural(0, "kernel"), "0 kernels");
  EXPECT_EQ(plural(4.5, "launch", "es"), "4.5 launches");
}

TEST(Table, AlignsColumnsWithoutTrailingSpaces) {
  Table table({{"kernel", Align::kLeft}, {"runs", Align::kRight}, {"note", Align::kLeft}});
  table.add_row({"gemm", "3", "a"});
  table.add_row({"gelu_tanh", "12", ""});
  EXPECT_EQ(table.text(),
            "  kernel     runs  note\n"
            "  gemm          3  a\n"
            "  gelu_tanh    12\n");
}

TEST(Table, MarkdownEscapesPipes) {
  Table table({{"a", Align::kLeft}, {"b", Align::kRight}});
  table.add_row({"x|y", "1"});
  EXPECT_EQ(table.markdown(), "| a | b |\n| --- | ---: |\n| x\\|y | 1 |\n");
}

TEST(Table, LongFirstCellGetsItsOwnLine) {
  Table table({{"name", Align::kLeft}, {"n", Align::kRight}});
  table.wrap_first(6);
  table.add_row({"short", "1"});
  table.add_row({"much_too_long", "22"});
  EXPECT_EQ(table.text(),
            "  name    n\n"
            "  short   1\n"
            "  much_too_long\n"
            "         22\n");
}

}  // namespace
}  // namespace epi::report
