// SPDX-License-Identifier: Apache-2.0
// Compares decoded kernel names with the calls that launched them. tests/data/kernel_names.json
// lists calls on an H200 and their kernels.
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
      return trace::parse_integer_token(trace::find_value(item, key).value_or(""));
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

// cuBLAS is column-major, so the second operand of a row-major GEMM is its first.
std::string layout_of_call(const Call& call) {
  return {call.b_transposed ? 't' : 'n', call.a_transposed ? 't' : 'n'};
}

NumberType type_of_call(const Call& call) {
  static const std::map<std::string, NumberType> kTypes = {{"bfloat16", NumberType::kBf16},
                                                           {"float16", NumberType::kF16},
                                                           {"float32", NumberType::kF32},
                                                           {"tf32", NumberType::kTf32},
                                                           {"float8_e4m3fn", NumberType::kF8e4m3}};
  return kTypes.at(call.dtype);
}

TEST(DecodedNames, EveryRecordedKernelHasLibraryAndKind) {
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

TEST(DecodedNames, LayoutsMatchTheCall) {
  size_t stated = 0;
  for (const Call& call : recorded_calls()) {
    for (const std::string& name : call.kernels) {
      const DecodedName kernel = decode_name(name);
      if (kernel.kind != Kind::kGemm || kernel.layout.empty() || !call.m) continue;
      // A single row is also a column. The library may treat it as either, and the name shows
      // which.
      if (call.m == 1 && kernel.layout[0] == layout_of_call(call)[0]) continue;
      EXPECT_EQ(kernel.layout, layout_of_call(call)) << name;
      ++stated;
    }
  }
  EXPECT_GT(stated, 80U);
}

// PyTorch's "tf32" only permits TF32. cuBLAS may choose an f32 kernel, which is named accordingly.
bool is_compatible(NumberType requested, NumberType stated) {
  return stated == requested || (requested == NumberType::kTf32 && stated == NumberType::kF32);
}

TEST(DecodedNames, TypesMatchTheCall) {
  size_t stated = 0;
  for (const Call& call : recorded_calls()) {
    for (const std::string& name : call.kernels) {
      const DecodedName kernel = decode_name(name);
      const bool gemm = kernel.kind == Kind::kGemm || kernel.kind == Kind::kGemv;
      if (!gemm || kernel.dtype == NumberType::kUnknown) continue;
      EXPECT_TRUE(is_compatible(type_of_call(call), kernel.dtype)) << call.dtype << " " << name;
      ++stated;
    }
  }
  EXPECT_GT(stated, 110U);
}

TEST(DecodedNames, EpiloguesMatchTheCall) {
  for (const Call& call : recorded_calls()) {
    for (const std::string& name : call.kernels) {
      const DecodedName kernel = decode_name(name);
      if (!name.starts_with("nvjet") || call.op == "scaled_mm") continue;
      const std::vector<std::string> expected =
          call.op == "addmm"        ? std::vector<std::string>{"bias"}
          : call.op == "addmm_gelu" ? std::vector<std::string>{"bias", "gelu"}
                                    : std::vector<std::string>{};
      EXPECT_EQ(kernel.epilogue, expected) << name;
    }
  }
}

TEST(DecodedNames, NvjetSplitKMatchesReductionKernel) {
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

// Names that are only a prefix and a suffix.
TEST(FusedOps, MayBeMissing) {
  for (const char* name :
       {"epi_", "epi_strided", "epi__stream", "epi_decode", "triton_", "triton"}) {
    EXPECT_TRUE(decode_name(name).ops.empty()) << name;
  }
}

TEST(FusedOps, SplitAtOperatorNames) {
  using Ops = std::vector<std::string>;
  EXPECT_EQ(names::split_fused_ops("_unsafe_view_gelu_mul"), (Ops{"_unsafe_view", "gelu", "mul"}));
  EXPECT_EQ(names::split_fused_ops("_to_copy_add_mean_mul_pow_rsqrt"),
            (Ops{"_to_copy", "add", "mean", "mul", "pow", "rsqrt"}));
  EXPECT_EQ(names::split_fused_ops("native_layer_norm_backward"),
            Ops{"native_layer_norm_backward"});
  EXPECT_EQ(names::split_fused_ops("add_unknown"), (Ops{"add", "unknown"}));
  EXPECT_EQ(names::split_fused_ops(""), Ops{});
}

TEST(CppNames, SplitIntoParts) {
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

TEST(CppNames, ParseWhenTruncated) {
  const auto name = names::read_cpp_name("void at::native::f<8, at::native::G<fl");
  EXPECT_EQ(name.base, "f");
  EXPECT_EQ(name.arg(0), "8");
  EXPECT_EQ(name.arg(1), "at::native::G<fl");
}

}  // namespace
}  // namespace epi::analysis
