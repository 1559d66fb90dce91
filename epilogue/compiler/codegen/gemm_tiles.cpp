// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/gemm_tiles.h"

#include "epilogue/compiler/codegen/gemm_epilogue.h"
#include "epilogue/compiler/codegen/tile_config.h"

namespace epi::compiler {
namespace {

constexpr int kHalf = 16;             // rows of one tile register
constexpr int64_t kTileBytes = 1024;  // of one tile register

class GemmTiles {
 public:
  GemmTiles(std::string name, const GemmCode& code, const Target& target)
      : name_(std::move(name)),
        code_(code),
        target_(target),
        steps_((code.k + kTileDepth - 1) / kTileDepth) {}

  std::string emit() {
    emit_rows(2);
    emit_rows(1);
    emit_panel();
    return out_.text();
  }

 private:
  // Multiplies one or two registers of rows of x, of which %rows are in use, by the panel.
  void emit_rows(int halves) {
    out_.comment(fmt::format("{}: an AMX tile of {} rows by {} columns, over all of k",
                             operators_of(code_), halves * kHalf, kTileColumns / code_.gemms));
    out_.begin_function("internal ", fmt::format("{}.{}", name_, halves * kHalf),
                        "ptr %args, ptr %x, i64 %x_row_bytes, ptr %panel, i64 %row, i64 %rows, "
                        "i64 %column");
    emit_addresses(out_, code_);
    out_.line("%sums = alloca [{} x float], align 64", kTileRows * kTileColumns);
    for (int tile = 0; tile < 2 * halves; ++tile) {
      out_.line("call void @llvm.x86.tilezero(i8 {})", tile);
    }
    out_.line("%lower = mul i64 %x_row_bytes, {}", kHalf);
    out_.line("br label %multiply");
    emit_multiply(halves);
    for (int tile = 0; tile < 2 * halves; ++tile) {
      const int64_t place = (tile / 2) * kHalf * kTileColumns + (tile % 2) * kHalf;
      const IrValue at = out_.let("getelementptr float, ptr %sums, i64 {}", place);
      out_.line("call void @llvm.x86.tilestored64(i8 {}, ptr {}, i64 {})", tile, at,
                kTileColumns * 4);
    }
    emit_epilogue_loop(out_, code_, target_,
                       {"%sums", halves * kHalf, kTileColumns / code_.gemms, "%rows"}, "finish");
    out_.end_function();
  }

  void emit_multiply(int halves) {
    out_.label("multiply");
    out_.line("%step = phi i64 [ 0, %entry ], [ %step.next, %multiply ]");
    out_.line("%x.skipped = mul i64 %step, {}", kTileDepth * 2);
    out_.line("%x.at = getelementptr i8, ptr %x, i64 %x.skipped");
    out_.line("call void @llvm.x86.tileloadd64(i8 4, ptr %x.at, i64 %x_row_bytes)");
    out_.line("%w.skipped = mul i64 %step, {}", 2 * kTileBytes);
    for (int tile = 0; tile < 2; ++tile) {
      out_.line("%w{0}.skipped = add i64 %w.skipped, {1}", tile, tile * kTileBytes);
      out_.line("%w{0} = getelementptr i8, ptr %panel, i64 %w{0}.skipped", tile);
      out_.line("call void @llvm.x86.tileloadd64(i8 {0}, ptr %w{1}, i64 64)", 6 + tile, tile);
      out_.line("call void @llvm.x86.tdpbf16ps(i8 {0}, i8 4, i8 {1})", tile, 6 + tile);
    }
    if (halves == 2) {
      out_.line("%x.lower = getelementptr i8, ptr %x.at, i64 %lower");
      out_.line("call void @llvm.x86.tileloadd64(i8 5, ptr %x.lower, i64 %x_row_bytes)");
      out_.line("call void @llvm.x86.tdpbf16ps(i8 2, i8 5, i8 6)");
      out_.line("call void @llvm.x86.tdpbf16ps(i8 3, i8 5, i8 7)");
    }
    out_.line("%step.next = add i64 %step, 1");
    out_.line("%more = icmp slt i64 %step.next, {}", steps_);
    out_.line("br i1 %more, label %multiply, label %finish");
    out_.label("finish");
  }

  void emit_call(int halves, std::string_view rows) {
    const IrValue skipped = out_.let("mul i64 %row, %x_row_bytes");
    const IrValue x = out_.let("getelementptr i8, ptr %x, i64 {}", skipped);
    out_.line(
        "call void @{}.{}(ptr %args, ptr {}, i64 %x_row_bytes, ptr %w, i64 %row, i64 {}, "
        "i64 %column)",
        name_, halves * kHalf, x, rows);
  }

  void emit_panel() {
    out_.comment(fmt::format("{}: loop over the rows of a panel", operators_of(code_)));
    out_.begin_function("", name_, "ptr %args, i64 %row_begin, i64 %row_end, i64 %panel");
    out_.line("%x = load ptr, ptr %args, align 8");
    out_.line("%x_row_bytes.at = getelementptr i64, ptr %args, i64 1");
    out_.line("%x_row_bytes = load i64, ptr %x_row_bytes.at, align 8");
    out_.line("%weights.at = getelementptr ptr, ptr %args, i64 2");
    out_.line("%weights = load ptr, ptr %weights.at, align 8");
    out_.line("%skipped = mul i64 %panel, {}", steps_ * 2 * kTileBytes);
    out_.line("%w = getelementptr i8, ptr %weights, i64 %skipped");
    out_.line("%column = mul i64 %panel, {}", kTileColumns / code_.gemms);
    emit_tile_config(out_);
    emit_tile_rows(out_, "16", "16");
    out_.line("br label %next");
    out_.label("next");
    out_.line("%row = phi i64 [ %row_begin, %entry ], [ %row.next, %whole ]");
    out_.line("%row.next = add i64 %row, {}", kTileRows);
    out_.line("%fits = icmp sle i64 %row.next, %row_end");
    out_.line("br i1 %fits, label %whole, label %rest");
    out_.label("whole");
    emit_call(2, fmt::format("{}", kTileRows));
    out_.line("br label %next");
    emit_rest();
    out_.line("call void @llvm.x86.tilerelease()");
    out_.end_function();
  }

  void emit_rest() {
    out_.label("rest");
    out_.line("%left = sub i64 %row_end, %row");
    out_.line("%left.byte = trunc i64 %left to i8");
    out_.line("%two = icmp sgt i64 %left, {}", kHalf);
    out_.line("br i1 %two, label %last.two, label %some");
    out_.label("last.two");
    out_.line("%lower.byte = sub i8 %left.byte, {}", kHalf);
    emit_tile_rows(out_, "16", "%lower.byte");
    emit_call(2, "%left");
    out_.line("br label %done");
    out_.label("some");
    out_.line("%one = icmp sgt i64 %left, 0");
    out_.line("br i1 %one, label %last.one, label %done");
    out_.label("last.one");
    emit_tile_rows(out_, "%left.byte", "16");
    emit_call(1, "%left");
    out_.line("br label %done");
    out_.label("done");
  }

  std::string name_;
  const GemmCode& code_;
  const Target& target_;
  int64_t steps_;
  IrWriter out_;
};

}  // namespace

std::string emit_gemm_tiles(const std::string& name, const GemmCode& code, const Target& target) {
  return GemmTiles(name, code, target).emit();
}

}  // namespace epi::compiler
