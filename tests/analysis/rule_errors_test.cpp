// SPDX-License-Identifier: Apache-2.0
// Rules that do not parse, each with the column and the text of the error.
#include <gtest/gtest.h>

#include <string>

#include "epilogue/analysis/expect/rule.h"
#include "epilogue/analysis/expect/rule_parser.h"

namespace epi::analysis {
namespace {

struct ParseError {
  const char* rule;
  int column;
  const char* message_part;
};

template <size_t N>
void expect_refused(const ParseError (&errors)[N]) {
  for (const ParseError& one : errors) {
    const auto rule = parse_rule(one.rule);
    ASSERT_FALSE(rule) << one.rule;
    const std::string& message = rule.error().message;
    const std::string column = "column " + std::to_string(one.column) + ": ";
    EXPECT_TRUE(message.starts_with(column)) << one.rule << "\n" << message;
    EXPECT_NE(message.find(one.message_part), std::string::npos) << one.rule << "\n" << message;
  }
}

TEST(RuleErrors, ReportsMissingSubjectColonOrClaim) {
  expect_refused({{"", 1, "empty"},
                  {"   \t", 1, "empty"},
                  {": kernels == 5", 1, "name or a /regex/ is missing"},
                  {"  : kernels == 5", 3, "name or a /regex/ is missing"},
                  {"mlp_fwd", 8, "colon"},
                  {"mlp_fwd kernels == 5", 21, "colon"},
                  {"aten::t kernels == 5", 21, "colon"},
                  {"/mlp_.*/ kernels == 5", 22, "colon"},
                  {"mlp_fwd:", 9, "not a measure"},
                  {"mlp_fwd:  ", 9, "not a measure"}});
}

TEST(RuleErrors, ReportsUnknownMeasureOrQuantifier) {
  expect_refused({{"mlp_fwd: kernals == 5", 10, "\"kernals\" is not a measure: kernels, launches"},
                  {"mlp_fwd:kernals == 5", 9, "\"kernals\""},
                  {"  mlp_fwd: kernals == 5", 12, "\"kernals\""},
                  {"aten::t: gputime == 0", 10, "\"gputime\""},
                  {"step: kernel == 5", 7, "\"kernel\""},
                  {"step: Kernels == 5", 7, "\"Kernels\""},
                  {"Torch-Compiled Region: 0/0: kernals == 5", 29, "\"kernals\""},
                  {"step: kernels2 == 5", 7, "\"kernels2\""},
                  {"step: count9 == 0", 7, "\"count9\""},
                  {"step: no kernel2", 10, "\"kernel2\""},
                  {"l\u00e4yer: kernals == 1", 8, "\"kernals\""},
                  {"step: busy > 50", 14, "at most 1: write 50%"},
                  {"step: == 5", 7, "not a measure"},
                  {"step: every kernels == 5", 7, "\"every\""},
                  {"step: meadian gpu_time < 5us", 7, "\"meadian\""},
                  {"step: median gpu_tme < 5us", 14, "\"gpu_tme\""},
                  {"step: median", 13, "not a measure"},
                  {"step: median median kernels == 5", 14, "\"median\""},
                  {"step: each no sync", 12, "\"no\""},
                  {"step: any has memcpy", 11, "\"has\""}});
}

TEST(RuleErrors, ReportsInvalidComparison) {
  expect_refused({{"step: kernels", 14, "comparison is missing: ==, !=, <=, >=, <, >"},
                  {"step: kernels 5", 15, "comparison is missing"},
                  {"step: kernels = 5", 15, "comparison is missing"},
                  {"step: kernels =< 5", 15, "comparison is missing"},
                  {"step: kernels => 5", 15, "comparison is missing"},
                  {"step: kernels is 5", 15, "comparison is missing"},
                  {"step: kernels ! 5", 15, "comparison is missing"},
                  {"step: kernels === 5", 17, "number is missing"},
                  {"step: kernels <> 5", 16, "number is missing"},
                  {"step: count aten::t =< 3", 21, "comparison is missing"},
                  {"step: count aten::t => 3", 21, "comparison is missing"},
                  {"step: count aten::t == 3 <= 4", 21, "comparison is missing"},
                  {"step: count aten::t", 20, "comparison is missing"},
                  {"step: count aten::t = 3", 21, "comparison is missing"},
                  {"step: count /aten/", 19, "comparison is missing"}});
}

TEST(RuleErrors, ReportsInvalidValue) {
  expect_refused({{"step: kernels ==", 17, "number is missing"},
                  {"step: kernels == ", 17, "number is missing"},
                  {"step: kernels == five", 18, "number is missing"},
                  {"step: kernels == us", 18, "number is missing"},
                  {"step: kernels == inf", 18, "number is missing"},
                  {"step: kernels == nan", 18, "number is missing"},
                  {"step: kernels == 1e999", 18, "number is missing"},
                  {"step: count aten::t ==", 23, "number is missing"},
                  {"step: count aten::t == three", 24, "number is missing"}});
}

TEST(RuleErrors, ReportsUnknownUnitOrTrailingText) {
  expect_refused({{"step: gpu_time < 5 usec", 20, "\"usec\" is not a unit; this measure is a time"},
                  {"step: gpu_time < 5µs", 19, "not a unit"},
                  {"step: gpu_time < 5US", 19, "\"US\" is not a unit"},
                  {"step: bytes < 5KB", 16, "\"KB\" is not a unit; this measure is bytes"},
                  {"step: kernels == 5,000", 19, "\",000\" is not a unit"},
                  {"step: kernels == 0x5", 19, "\"x5\" is not a unit"},
                  {"step: kernels == 5 always", 20, "\"always\" is not a unit"},
                  {"step: gpu_time < 5us always", 19, "\"us always\" is not a unit"},
                  {"step: kernels == 5 6", 20, "\"6\" is not a unit"},
                  {"step: count aten::t == 3 times", 26, "\"times\" is not a unit"}});
}

TEST(RuleErrors, ReportsUnitOfAnotherMeasure) {
  expect_refused({{"step: kernels == 5us", 19, "\"us\" does not fit; this measure is a count"},
                  {"step: kernels == 5%", 19, "\"%\" does not fit"},
                  {"step: gemm == 5B", 16, "\"B\" does not fit"},
                  {"step: count aten::t == 5 ms", 26, "\"ms\" does not fit"},
                  {"step: gpu_time < 5 MB", 20, "\"MB\" does not fit; this measure is a time"},
                  {"step: cpu_time < 5%", 19, "\"%\" does not fit"},
                  {"step: idle < 5kB", 15, "\"kB\" does not fit"},
                  {"step: busy > 5us", 15, "\"us\" does not fit; this measure is a share"},
                  {"step: bytes < 5s", 16, "\"s\" does not fit; this measure is bytes"}});
}

TEST(RuleErrors, ReportsMissingOrUnknownThing) {
  expect_refused({{"step: no", 9, "is not one of kernel, op, call, memcpy, memset, sync"},
                  {"step: has", 10, "is not one of"},
                  {"step: no syncs", 10, "\"syncs\" is not one of"},
                  {"step: has kernels", 11, "\"kernels\" is not one of"},
                  {"step: no aten::t", 10, "\"aten\" is not one of"},
                  {"step: no kernel", 16, "name or a /regex/ is missing"},
                  {"step: has op", 13, "name or a /regex/ is missing"},
                  {"step: has call ", 15, "name or a /regex/ is missing"},
                  {"step: count == 3", 13, "name or a /regex/ is missing"},
                  {"step: no sync please", 15, "unexpected text after \"sync\""},
                  {"step: has memcpy == 3", 18, "unexpected text after \"memcpy\""},
                  {"step: no memset 3", 17, "unexpected text after \"memset\""}});
}

TEST(RuleErrors, ReportsInvalidRegex) {
  expect_refused({{"/mlp: kernels == 5", 1, "no closing /"},
                  {"  /mlp\\/: kernels == 5", 3, "no closing /"},
                  {"/(/: kernels == 5", 1, "/(/ is not a regular expression"},
                  {"//: kernels == 5", 1, "empty"},
                  {"/a/b: kernels == 5", 4, "unexpected text after"},
                  {"step: count /aten == 3", 13, "no closing /"},
                  {"step: count /[/ == 3", 13, "/[/ is not a regular expression"},
                  {"step: count // == 3", 13, "empty"},
                  {"step: count /a/b == 3", 16, "unexpected text after"},
                  {"step: no op /aten", 13, "no closing /"},
                  {"step: no op /*/", 13, "/*/ is not a regular expression"},
                  {"step: has call /x/ y", 19, "unexpected text after"}});
}

TEST(RuleErrors, ReportsInvalidTraceComparison) {
  expect_refused({{"mlp_fwd: same kernel as b.json", 15, "same kernels as PATH"},
                  {"mlp_fwd: same kernels like b.json", 23, "same kernels as PATH"},
                  {"mlp_fwd: same as b.json", 15, "same kernels as PATH"},
                  {"mlp_fwd: same", 14, "same kernels as PATH"},
                  {"mlp_fwd: same kernels as", 25, "path of a trace is missing"},
                  {"mlp_fwd: each same kernels as b.json", 15, "\"same\" is not a measure"}});
}

TEST(RuleErrors, ReportsTooLongRule) {
  const std::string name(4096, 'x');
  const auto rule = parse_rule(name + ": kernels == 5");
  ASSERT_FALSE(rule);
  EXPECT_TRUE(rule.error().message.starts_with("column 4097: ")) << rule.error().message;
  EXPECT_TRUE(parse_rule(name.substr(20) + ": kernels == 5"));
}

}  // namespace
}  // namespace epi::analysis
