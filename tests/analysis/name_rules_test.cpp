// SPDX-License-Identifier: Apache-2.0
// Name rule files: parsing, errors, and their precedence in `decode_name`.
#include "epilogue/analysis/names/name_rules.h"

#include <gtest/gtest.h>

#include "epilogue/analysis/names/decode.h"

namespace epi::analysis {
namespace {

NameRules rules_of(std::string_view text) {
  auto rules = parse_name_rules(text, "names.txt");
  EXPECT_TRUE(rules) << rules.error().message;
  return rules.value_or(NameRules());
}

TEST(NameRules, ParsesPatternsAndFields) {
  const auto rules = rules_of(
      "# a comment\n\n"
      "acme::*rope*  library=acme kind=pointwise ops=rope,mul  # behind it, too\n"
      "_bgmv_kernel\tlibrary=vllm dtype=bf16 kind=gemm\n");
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0].pattern, "acme::*rope*");
  EXPECT_EQ(library_text(rules[0].fields), "acme");
  EXPECT_EQ(rules[0].fields.ops, (std::vector<std::string>{"rope", "mul"}));
  EXPECT_EQ(rules[1].fields.library, Library::kVllm);
  EXPECT_EQ(rules[1].fields.dtype, NumberType::kBf16);
  EXPECT_EQ(rules[1].fields.kind, Kind::kGemm);
}

TEST(NameRules, ReportsErrorsWithFileAndLine) {
  for (const auto& [text, message] : {
           std::pair{"a kind=foo", "names.txt:1: \"foo\" is not a kind"},
           {"# x\nb dtype=f99", "names.txt:2: \"f99\" is not a dtype"},
           {"c", "names.txt:1: the pattern needs at least one field, such as kind=gemm"},
           {"d kind", "names.txt:1: \"kind\" needs a value, as in kind=gemm"},
           {"e ops=a,,b", "names.txt:1: \"ops=a,,b\" contains an empty operator name"},
           {"e shape=3",
            "names.txt:1: unknown field \"shape\"; valid fields: library, kind, dtype, ops"},
       }) {
    const auto rules = parse_name_rules(text, "names.txt");
    ASSERT_FALSE(rules) << text;
    EXPECT_TRUE(rules.error().message.starts_with(message)) << rules.error().message;
  }
}

TEST(NameRules, StarMatchesAnyText) {
  const auto matches = [](const std::string& pattern, const char* name) {
    return find_rule(rules_of(pattern + " kind=gemm"), name) != nullptr;
  };
  EXPECT_TRUE(matches("kernel", "kernel"));
  EXPECT_FALSE(matches("kernel", "kernels"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("a*c*e", "abcde"));
  EXPECT_TRUE(matches("a*c*e", "ace"));
  EXPECT_FALSE(matches("a*c*e", "abcd"));
  EXPECT_TRUE(matches("*ab", "aab")) << "the star must backtrack";
  EXPECT_FALSE(matches(std::string(50, '*') + "x", std::string(50, 'a').c_str()));
}

TEST(NameRules, UserRulesOverrideDecoder) {
  const std::string name = "void acme::fast_rope<float, 4>(float*, int)";
  EXPECT_EQ(decode_name(name).library, Library::kUnknown);
  const std::string gemm = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT";
  const DecodedName before = decode_name(gemm);
  {
    const NamesInUse names(std::make_shared<const NameRules>(
        rules_of("acme::* library=acme kind=pointwise\nnvjet_* library=mine\n")));
    EXPECT_EQ(library_text(decode_name(name)), "acme");
    EXPECT_EQ(decode_name(name).kind, Kind::kPointwise);
    EXPECT_EQ(library_text(decode_name(gemm)), "mine");
    EXPECT_EQ(decode_name(gemm).tile, before.tile)
        << "fields that a rule omits keep their decoded value";
  }
  EXPECT_EQ(decode_name(gemm).library, before.library);
}

TEST(NameRules, KnownNamesHaveLibraryAndKind) {
  EXPECT_EQ(library_text(decode_name("selective_scan_fwd_kernel")), "mamba");
  EXPECT_EQ(decode_name("kernel_unified_attention_4d").library, Library::kVllm);
  EXPECT_GT(known_names().size(), 20U);
  for (const NameRule& rule : known_names()) {
    EXPECT_NE(rule.fields.kind, Kind::kUnknown) << rule.pattern;
    EXPECT_NE(rule.fields.library, Library::kUnknown) << rule.pattern;
  }
}

}  // namespace
}  // namespace epi::analysis
