// SPDX-License-Identifier: Apache-2.0
// The code for AMX compiles on every x86-64 machine. Only a CPU with AMX can run it: there, the
// tests CompiledGemm and CompiledInt8 do.
#include <gtest/gtest.h>

#include "epilogue/compiler/codegen/gemm_emitter.h"
#include "epilogue/compiler/codegen/peak_code.h"
#include "epilogue/compiler/plan/generate.h"

namespace epi::compiler {
namespace {

Target amx_target() {
  Target target = host_target();
  target.features =
      "+avx,+avx2,+fma,+f16c,+avx512f,+avx512bw,+avx512dq,+avx512vl,+evex512,+avx512vnni,"
      "+amx-tile,+prfchw,+amx-bf16,+amx-int8";
  target.lanes = 16;
  target.registers = 32;
  target.converts_f16 = true;
  target.amx = true;
  target.amx_int8 = true;
  target.bf16_pairs.clear();
  target.int8_dots = "llvm.x86.avx512.vpdpbusd.512";
  target.l1_bytes = 48 << 10;
  return target;
}

class AmxCode : public ::testing::Test {
 protected:
  void SetUp() override {
    if (host_target().is_arm()) GTEST_SKIP() << "AMX is part of x86-64";
  }
  static bool compiles(const std::string& ir, const Target& target) {
    const Source source = as_module(ir, {"f"}, target);
    return generate(source, target, UseCache::kNo).code->find("f") != nullptr;
  }
};

GemmCode gemm(int gemms, int64_t n, int64_t k, bool is_int8) {
  GemmCode code;
  code.gemms = gemms;
  code.dtype = is_int8 ? DType::kF32 : DType::kBF16;
  if (is_int8) code.int8 = Int8Code{.int8_input = true, .in_groups = true};
  code.n = n;
  code.k = k;
  code.program.inputs = gemms;
  code.program.outputs = {0};
  code.outputs = {DType::kBF16};
  return code;
}

// The sizes select one, two and four streams, and one and several passes over k.
TEST_F(AmxCode, GemmsCompile) {
  const Target target = amx_target();
  for (const bool is_int8 : {false, true}) {
    for (const int gemms : {1, 2}) {
      for (const int64_t k : {1, 64, 128, 4096}) {
        const GemmCode code = gemm(gemms, 33, k, is_int8);
        const GemmKind expected = is_int8 ? GemmKind::kInt8Tiles : GemmKind::kTiles;
        EXPECT_EQ(choose_tile(code, target).kind, expected);
        EXPECT_TRUE(compiles(emit_gemm("f", code, target), target)) << gemms << " " << k;
      }
    }
  }
}

TEST_F(AmxCode, PeaksCompile) {
  const Target target = amx_target();
  for (const GemmKind kind : {GemmKind::kTiles, GemmKind::kInt8Tiles}) {
    EXPECT_TRUE(compiles(emit_peak("f", kind, target).ir, target));
  }
}

TEST_F(AmxCode, ScalesPerColumnUseVpdpbusd) {
  GemmCode code = gemm(1, 33, 64, true);
  code.int8->in_groups = false;
  EXPECT_EQ(choose_tile(code, amx_target()).kind, GemmKind::kVnni);
}

}  // namespace
}  // namespace epi::compiler
