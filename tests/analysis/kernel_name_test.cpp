// SPDX-License-Identifier: Apache-2.0
// Names against what was asked for: tests/data/kernel_names.json holds calls on an H200 with the
// kernels that they launched.
#include "epilogue/analysis/names/decoded_name.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "epilogue/analysis/names/cpp_name.h"
#include "epilogue/analysis/names/decode.h"
#include "epilogue/analysis/names/families.h"
#include "epilogue/base/mapped_file.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/json_text.h"
#include "epilogue/trace/number_text.h"

namespace epi::analysis {
namespace {

struct Call {
  std::string op;
  std::string dtype;
  std::optional<int64_t> m;
  bool a_transposed = false;
  bool b_transposed = false;
  std::vector<std::string> kernels;
};

std::string unquoted(std::string_view token) {
  std::string out;
  trace::unescape(token.substr(1, token.size() - 2), out);
  return out;
}

std::vector<Call> recorded_calls() {
  const auto file = MappedFile::open(std::string(EPI_TEST_DATA) + "/kernel_names.json");
  const auto bytes = file.value().bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<Call> calls;
  for (const std::string_view item : trace::array_items(text)) {
    const auto integer = [&](const char* key) {
      return trace::integer_of(trace::find_value(item, key).value_or(""));
    };
    Call call;
    call.op = unquoted(trace::find_value(item, "op").value());
    call.dtype = unquoted(trace::find_value(item, "dtype").value());
    call.m = integer("M");
    call.a_transposed = integer("a_transposed") == 1;
    call.b_transposed = integer("b_transposed") == 1;
    for (const std::string_view name :
         trace::array_items(trace::find_value(item, "kernels").value())) {
      call.kernels.push_back(unquoted(name));
    }
    calls.push_back(std::move(call));
  }
  return calls;
}

// cuBLAS counts in columns: the row-major GEMM's second operand is its first.
std::string asked_layout(const Call& call) {
  return {call.b_transposed ? 't' : 'n', call.a_transposed ? 't' : 'n'};
}

NumberType asked_type(const Call& call) {
  static const std::map<std::string, NumberType> kTypes = {{"bfloat16", NumberType::kBf16},
                                                           {"float16", NumberType::kF16},
                                                           {"float32", NumberType::kF32},
                                                           {"tf32", NumberType::kTf32},
                                                           {"float8_e4m3fn", NumberType::kF8e4m3}};
  return kTypes.at(call.dtype);
}

TEST(DecodedNames, EveryRecordedKernelHasALibraryAndAKind) {
  size_t names = 0;
  for (const Call& call : recorded_calls()) {
    for (const std::string& name : call.kernels) {
      const DecodedName kernel = decode_name(name);
      EXPECT_NE(kernel.library, Library::kUnknown) << name;
      EXPECT_NE(kernel.kind, Kind::kUnknown) << name;
      ++names;
    }
  }
  EXPECT_EQ(recorded_calls().size(), 193U);
  EXPECT_GT(names, 300U);
}

TEST(DecodedNames, LayoutsAreThoseOfTheCall) {
  size_t stated = 0;
  for (const Call& call : recorded_calls()) {
    for (const std::string& name : call.kernels) {
      const DecodedName kernel = decode_name(name);
      if (kernel.kind != Kind::kGemm || kernel.layout.empty() || !call.m) continue;
      // One row is as well a column: the library may take either, and the name says which.
      if (call.m == 1 && kernel.layout[0] == asked_layout(call)[0]) continue;
      EXPECT_EQ(kernel.layout, asked_layout(call)) << name;
      ++stated;
    }
  }
  EXPECT_GT(stated, 80U);
}

// PyTorch's "tf32" only allows it: cuBLAS may take f32 kernels, which say so.
bool fits(NumberType asked, NumberType stated) {
  return stated == asked || (asked == NumberType::kTf32 && stated == NumberType::kF32);
}

TEST(DecodedNames, TypesAreThoseOfTheCall) {
  size_t stated = 0;
  for (const Call& call : recorded_calls()) {
    for (const std::string& name : call.kernels) {
      const DecodedName kernel = decode_name(name);
      const bool gemm = kernel.kind == Kind::kGemm || kernel.kind == Kind::kGemv;
      if (!gemm || kernel.dtype == NumberType::kUnknown) continue;
      EXPECT_TRUE(fits(asked_type(call), kernel.dtype)) << call.dtype << " " << name;
      ++stated;
    }
  }
  EXPECT_GT(stated, 110U);
}

TEST(DecodedNames, EpiloguesAreThoseOfTheCall) {
  for (const Call& call : recorded_calls()) {
    for (const std::string& name : call.kernels) {
      const DecodedName kernel = decode_name(name);
      if (!name.starts_with("nvjet") || call.op == "scaled_mm") continue;
      const std::vector<std::string> wanted = call.op == "addmm" ? std::vector<std::string>{"bias"}
                                              : call.op == "addmm_gelu"
                                                  ? std::vector<std::string>{"bias", "gelu"}
                                                  : std::vector<std::string>{};
      EXPECT_EQ(kernel.epilogue, wanted) << name;
    }
  }
}

TEST(DecodedNames, NvjetSaysSplitKExactlyWhereASumFollows) {
  for (const Call& call : recorded_calls()) {
    bool sums = false;
    for (const std::string& name : call.kernels) {
      sums |= decode_name(name).kind == Kind::kSplitKReduce;
    }
    for (const std::string& name : call.kernels) {
      if (!name.starts_with("nvjet")) continue;
      EXPECT_EQ(decode_name(name).split_k, sums) << name;
    }
  }
}

TEST(DecodedNames, PointwiseKernelsNameTheirOperator) {
  static const std::map<std::string, std::string> kOps = {
      {"add", "add"},   {"mul", "mul"},      {"gelu", "gelu"},  {"gelu_tanh", "gelu"},
      {"exp", "exp"},   {"silu", "silu"},    {"relu", "clamp"}, {"sum", "sum"},
      {"amax", "amax"}, {"cumsum", "cumsum"}};
  for (const Call& call : recorded_calls()) {
    const auto op = kOps.find(call.op);
    if (op == kOps.end()) continue;
    const DecodedName kernel = decode_name(call.kernels.back());
    EXPECT_EQ(kernel.ops, std::vector<std::string>{op->second}) << call.kernels.back();
  }
}

TEST(FusedOps, AreSplitAtTheOperatorsNotAtEveryUnderscore) {
  using Ops = std::vector<std::string>;
  EXPECT_EQ(names::split_fused_ops("_unsafe_view_gelu_mul"), (Ops{"_unsafe_view", "gelu", "mul"}));
  EXPECT_EQ(names::split_fused_ops("_to_copy_add_mean_mul_pow_rsqrt"),
            (Ops{"_to_copy", "add", "mean", "mul", "pow", "rsqrt"}));
  EXPECT_EQ(names::split_fused_ops("native_layer_norm_backward"),
            Ops{"native_layer_norm_backward"});
  EXPECT_EQ(names::split_fused_ops("add_unknown"), (Ops{"add", "unknown"}));
  EXPECT_EQ(names::split_fused_ops(""), Ops{});
}

TEST(CppNames, AreTakenApart) {
  const auto name = names::read_cpp_name(
      "std::enable_if<!(false), void>::type a::(anonymous namespace)::f<int, g<b, c>, {lambda()#1}>"
      "(int, float*)");
  EXPECT_EQ(name.scope, "a::(anonymous namespace)");
  EXPECT_EQ(name.base, "f");
  ASSERT_EQ(name.arg_count, 3U);
  EXPECT_EQ(name.arg(1), "g<b, c>");
  EXPECT_EQ(name.arg(3), "");
  EXPECT_EQ(name.params, "(int, float*)");
}

TEST(CppNames, ThatAreCutOffGiveWhatIsThere) {
  const auto name = names::read_cpp_name("void at::native::f<8, at::native::G<fl");
  EXPECT_EQ(name.base, "f");
  EXPECT_EQ(name.arg(0), "8");
  EXPECT_EQ(name.arg(1), "at::native::G<fl");
}

}  // namespace
}  // namespace epi::analysis
