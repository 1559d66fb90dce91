// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/peak_code.h"

#include "epilogue/compiler/codegen/tile_config.h"

namespace epi::compiler {
namespace {

// Number of independent sums: four units with a latency of four or five cycles need twenty. x86
// CPUs without AVX-512 have two units, and sixteen registers for the sums and the operands.
int sums_for(const Target& target) { return target.registers == 32 ? 24 : 12; }

void emit_loop(IrWriter& out, const std::string& body_phis) {
  out.line("br label %round");
  out.label("round");
  out.line("%i = phi i64 [ 0, %entry ], [ %i.next, %round ]");
  if (!body_phis.empty()) out.line("{}", body_phis);
}

void emit_loop_end(IrWriter& out) {
  out.line("%i.next = add i64 %i, 1");
  out.line("%more = icmp slt i64 %i.next, %rounds");
  out.line("br i1 %more, label %round, label %done");
  out.label("done");
}

// The instruction that adds `factor` times itself to a sum, and its operations.
struct PeakInstruction {
  std::string name;    // of the LLVM intrinsic
  std::string factor;  // its type
  bool sum_is_first;   // of the arguments
  int64_t flops;
  bool has_integers = false;  // sums are integers
};

PeakInstruction instruction(GemmKind kind, const Target& target) {
  const std::string pairs = fmt::format("<{} x bfloat>", 2 * target.lanes);
  if (kind == GemmKind::kMmla) return {"llvm.aarch64.neon.bfmmla", pairs, true, 2 * 2 * 4 * 2};
  if (kind == GemmKind::kPairs) return {target.bf16_pairs, pairs, true, 4 * target.lanes};
  if (kind == GemmKind::kFmlal) {
    return {"llvm.aarch64.neon.fmlal.v4f32.v8f16", "<8 x half>", true, 2 * target.lanes};
  }
  const std::string bytes = fmt::format("<{} x i8>", 4 * target.lanes);
  if (kind == GemmKind::kSmmla) {
    return {"llvm.aarch64.neon.smmla.v4i32.v16i8", bytes, true, 2 * 2 * 8 * 2, true};
  }
  if (kind == GemmKind::kVnni || (kind == GemmKind::kDots && !target.int8_dots.empty())) {
    const std::string words = fmt::format("<{} x i32>", target.lanes);
    return {target.int8_dots, kind == GemmKind::kVnni ? words : bytes, true, 8 * target.lanes,
            true};
  }
  return {fmt::format("llvm.fmuladd.v{}f32", target.lanes),
          fmt::format("<{} x float>", target.lanes), false, 2 * target.lanes};
}

PeakCode emit_vectors(const std::string& name, GemmKind kind, const Target& target) {
  IrWriter out;
  VectorCode vector(out, target, target.lanes);
  const PeakInstruction add = instruction(kind, target);
  const int sums = sums_for(target);
  out.begin_function("", name, "ptr %sink, i64 %rounds");
  // Loaded from memory, so that nothing can be computed at compile time. In a GEMM both factors are
  // loaded: Neoverse V1 is twice as fast with them as with the results of most other instructions.
  const IrValue loaded = vector.load(DType::kF32, "%sink");
  const IrValue factor = out.let("bitcast {} {} to {}", vector.type(), loaded, add.factor);
  const std::string type =
      add.has_integers ? fmt::format("<{} x i32>", target.lanes) : vector.type();
  std::string phis;
  for (int i = 0; i < sums; ++i) {
    phis += fmt::format("{0}%sum{1} = phi {2} [ zeroinitializer, %entry ], [ %new{1}, %round ]",
                        i == 0 ? "" : "\n  ", i, type);
  }
  emit_loop(out, phis);
  for (int i = 0; i < sums; ++i) {
    const std::string factors = fmt::format("{0} {1}, {0} {1}", add.factor, factor);
    const std::string sum = fmt::format("{} %sum{}", type, i);
    out.line("%new{} = call {} @{}({}, {})", i, type, add.name, add.sum_is_first ? sum : factors,
             add.sum_is_first ? factors : sum);
  }
  emit_loop_end(out);
  IrValue total = "%new0";
  for (int i = 1; i < sums; ++i) {
    total = out.let("{} {} {}, %new{}", add.has_integers ? "add" : "fadd", type, total, i);
  }
  out.line("store {} {}, ptr %sink, align 4", type, total);
  out.end_function();
  return {out.text(), sums * add.flops};
}

// `instruction` multiplies `depth` numbers per row.
PeakCode emit_tiles(const std::string& name, std::string_view instruction, int64_t depth) {
  IrWriter out;
  out.begin_function("", name, "ptr %sink, i64 %rounds");
  emit_tile_config(out);
  emit_tile_rows(out, "16", "16");
  for (int tile = 0; tile < 4; ++tile) out.line("call void @llvm.x86.tilezero(i8 {})", tile);
  for (int tile = 4; tile < 8; ++tile) {
    out.line("call void @llvm.x86.tileloadd64(i8 {}, ptr %sink, i64 64)", tile);
  }
  emit_loop(out, "");
  for (int tile = 0; tile < 4; ++tile) {
    out.line("call void @llvm.x86.{}(i8 {}, i8 {}, i8 {})", instruction, tile, 4 + tile / 2,
             6 + tile % 2);
  }
  emit_loop_end(out);
  out.line("call void @llvm.x86.tilestored64(i8 0, ptr %sink, i64 64)");
  emit_tile_release(out);
  out.end_function();
  return {out.text(), 4 * 16 * 16 * depth * 2};
}

}  // namespace

ReadCode emit_read(const std::string& name, int streams, const Target& target) {
  constexpr int kLoads = 8;
  constexpr int64_t kAhead = 4096;  // prefetch distance in bytes, into L2
  const int64_t vector_bytes = int64_t{target.lanes} * 4;
  const std::string type = fmt::format("<{} x i32>", target.lanes);
  IrWriter out;
  out.begin_function("", name, "ptr %sink, ptr %data, i64 %rounds");
  std::string phis;
  for (int i = 0; i < kLoads; ++i) {
    phis += fmt::format("{0}%sum{1} = phi {2} [ zeroinitializer, %entry ], [ %new{1}, %round ]",
                        i == 0 ? "" : "\n  ", i, type);
  }
  emit_loop(out, phis);
  const int loads = kLoads / streams;  // of one stream in a round
  const IrValue skipped = out.let("mul i64 %i, {}", loads * vector_bytes);
  for (int i = 0; i < kLoads; ++i) {
    const IrValue first = out.let("mul i64 %rounds, {}", i / loads * loads * vector_bytes);
    const IrValue place = out.let("add i64 {}, {}", skipped, first);
    const IrValue offset = out.let("add i64 {}, {}", place, i % loads * vector_bytes);
    const IrValue at = out.let("getelementptr i8, ptr %data, i64 {}", offset);
    const IrValue later = out.let("getelementptr i8, ptr {}, i64 {}", at, kAhead);
    out.line("call void @llvm.prefetch.p0(ptr {}, i32 0, i32 2, i32 1)", later);
    const IrValue loaded = out.let("load {}, ptr {}, align 4", type, at);
    out.line("%new{0} = xor {1} %sum{0}, {2}", i, type, loaded);
  }
  emit_loop_end(out);
  IrValue total = "%new0";
  for (int i = 1; i < kLoads; ++i) total = out.let("xor {} {}, %new{}", type, total, i);
  out.line("store {} {}, ptr %sink, align 4", type, total);
  out.end_function();
  return {out.text(), kLoads * vector_bytes};
}

PeakCode emit_peak(const std::string& name, GemmKind kind, const Target& target) {
  if (kind == GemmKind::kTiles) return emit_tiles(name, "tdpbf16ps", 32);
  if (kind == GemmKind::kInt8Tiles) return emit_tiles(name, "tdpbssd", 64);
  return emit_vectors(name, kind, target);
}

}  // namespace epi::compiler
