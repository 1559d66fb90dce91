// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/peak_code.h"

#include "epilogue/compiler/codegen/tile_config.h"

namespace epi::compiler {
namespace {

// Number of independent sums: two units with a latency of four or five cycles need ten. x86 CPUs
// without AVX-512 have sixteen registers for the sums and the operands.
constexpr int kSums = 12;

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

PeakCode emit_vectors(const std::string& name, bool by_pairs, const Target& target) {
  IrWriter out;
  VectorCode vector(out, target, target.lanes);
  out.begin_function("", name, "ptr %sink, i64 %rounds");
  // Loaded from memory, so that nothing can be computed at compile time.
  IrValue factor = vector.load_splat(DType::kF32, "%sink");
  const std::string pairs = fmt::format("<{} x bfloat>", 2 * target.lanes);
  if (by_pairs) factor = out.let("bitcast {} {} to {}", vector.type(), factor, pairs);
  std::string phis;
  for (int i = 0; i < kSums; ++i) {
    phis += fmt::format("{0}%sum{1} = phi {2} [ zeroinitializer, %entry ], [ %new{1}, %round ]",
                        i == 0 ? "" : "\n  ", i, vector.type());
  }
  emit_loop(out, phis);
  for (int i = 0; i < kSums; ++i) {
    if (by_pairs) {
      out.line("%new{0} = call {1} @{2}({1} %sum{0}, {3} {4}, {3} {4})", i, vector.type(),
               target.bf16_pairs, pairs, factor);
    } else {
      out.line("%new{0} = call {1} @llvm.fmuladd.v{2}f32({1} {3}, {1} {3}, {1} %sum{0})", i,
               vector.type(), target.lanes, factor);
    }
  }
  emit_loop_end(out);
  IrValue total = "%new0";
  for (int i = 1; i < kSums; ++i) total = vector.add(total, fmt::format("%new{}", i));
  vector.store(DType::kF32, total, "%sink");
  out.end_function();
  return {out.text(), int64_t{kSums} * target.lanes * (by_pairs ? 4 : 2)};
}

PeakCode emit_tiles(const std::string& name) {
  IrWriter out;
  out.begin_function("", name, "ptr %sink, i64 %rounds");
  emit_tile_config(out);
  emit_tile_rows(out, "16", "16");
  for (int tile = 0; tile < 8; ++tile) out.line("call void @llvm.x86.tilezero(i8 {})", tile);
  emit_loop(out, "");
  for (int tile = 0; tile < 4; ++tile) {
    out.line("call void @llvm.x86.tdpbf16ps(i8 {}, i8 {}, i8 {})", tile, 4 + tile / 2,
             6 + tile % 2);
  }
  emit_loop_end(out);
  out.line("call void @llvm.x86.tilerelease()");
  out.end_function();
  return {out.text(), int64_t{4} * 16 * 16 * 32 * 2};
}

}  // namespace

ReadCode emit_read(const std::string& name, const Target& target) {
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
  const IrValue skipped = out.let("mul i64 %i, {}", kLoads * vector_bytes);
  for (int i = 0; i < kLoads; ++i) {
    const IrValue offset = out.let("add i64 {}, {}", skipped, i * vector_bytes);
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
  if (kind == GemmKind::kTiles) return emit_tiles(name);
  return emit_vectors(name, kind == GemmKind::kPairs, target);
}

}  // namespace epi::compiler
