// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/gemm_int8_tile.h"

#include <array>

#include "epilogue/compiler/codegen/gemm_epilogue.h"

namespace epi::compiler {
namespace {

// Tile registers, in the order of int8_tile_registers.
constexpr int kSums = 0;
constexpr int kRows = 1;
constexpr int kWeights = 2;
constexpr int kRegisterBytes = 64;  // of a vector, and of a row of sums
constexpr int kAheadSteps = 6;      // prefetch distance, about 7 KB

class Int8Tile {
 public:
  Int8Tile(IrWriter& out, const GemmCode& code, const GemmTile& tile, const Target& target,
           const GemmPanel& panel)
      : out_(out),
        code_(code),
        tile_(tile),
        target_(target),
        panel_(panel),
        vectors_(tile.columns / target.lanes * code.gemms) {}

  void emit() {
    out_.comment(fmt::format("{}: a tile of {} rows by {} columns, {} k at a time, with AMX",
                             operators_of(code_), kInt8TileRows, tile_.columns, kInt8Step));
    panel_.begin_tile(out_, kInt8TileRows);
    emit_addresses(out_, code_);
    const bool passes = panel_.has_passes(kInt8TileRows);
    if (!passes) {
      out_.line("%sums = alloca [{} x i8], align 64", kInt8TileRows * vectors_ * kRegisterBytes);
    }
    out_.line("%dots = alloca [{} x i8], align 64", kInt8TileRows * kRegisterBytes);
    out_.line("%begin = add i64 {}, 0", passes ? "%first" : "0");
    out_.line("%end.step = add i64 {}, 0", passes ? "%last" : fmt::to_string(int8_steps(code_)));
    out_.line("%resumes = icmp sgt i64 %begin, 0");
    for (int v = 0; v < vectors_; ++v) emit_columns(v);
    if (passes) {
      out_.line("%complete = icmp eq i64 %last, {}", int8_steps(code_));
      out_.line("br i1 %complete, label %finish, label %end");
    } else {
      out_.line("br label %finish");
    }
    out_.label("finish");
    emit_epilogue_loop(out_, code_, target_,
                       {"%sums", kInt8TileRows, tile_.columns, fmt::to_string(kInt8TileRows)},
                       "finish");
    out_.end_function();
  }

 private:
  // One vector of columns, in all rows and for the steps of the pass. Leaves the sums in %sums.
  void emit_columns(int v) {
    const std::string previous = v == 0 ? "entry" : fmt::format("store.{}", v - 1);
    out_.line("br i1 %resumes, label %resume.{0}, label %multiply.{0}", v);
    out_.label(fmt::format("resume.{}", v));
    for (int row = 0; row < kInt8TileRows; ++row) {
      out_.line("%old.{}.{} = load <16 x float>, ptr {}, align 4", v, row, sums_at(v, row));
    }
    out_.line("br label %multiply.{}", v);
    out_.label(fmt::format("multiply.{}", v));
    out_.line(
        "%k.{0} = phi i64 [ %begin, %{1} ], [ %begin, %resume.{0} ], "
        "[ %next.{0}, %multiply.{0} ]",
        v, previous);
    for (int row = 0; row < kInt8TileRows; ++row) {
      out_.line(
          "%sum.{0}.{1} = phi <16 x float> [ zeroinitializer, %{2} ], "
          "[ %old.{0}.{1}, %resume.{0} ], [ %new.{0}.{1}, %multiply.{0} ]",
          v, row, previous);
    }
    emit_group(v);
    out_.line("%next.{0} = add i64 %k.{0}, 1", v);
    out_.line("%more.{0} = icmp slt i64 %next.{0}, %end.step", v);
    out_.line("br i1 %more.{0}, label %multiply.{0}, label %store.{0}", v);
    out_.label(fmt::format("store.{}", v));
    for (int row = 0; row < kInt8TileRows; ++row) {
      out_.line("store <16 x float> %new.{}.{}, ptr {}, align 4", v, row, sums_at(v, row));
    }
  }

  // Multiplies a group, and adds its scaled sums.
  void emit_group(int v) {
    const int64_t panel_bytes = int8_panel_bytes(code_, tile_);
    const IrValue line = at("%panel", out_.let("mul i64 %k.{}, {}", v, panel_bytes));
    const IrValue x = at("%x", out_.let("mul i64 %k.{}, {}", v, kInt8TileRows * kInt8RowBytes));
    if (v == 0) out_.prefetch(at(line, kAheadSteps * panel_bytes), panel_bytes, 2);
    out_.line("call void @llvm.x86.tileloadd64(i8 {}, ptr {}, i64 {})", kRows, x, kInt8RowBytes);
    out_.line("call void @llvm.x86.tileloadd64(i8 {}, ptr {}, i64 {})", kWeights,
              at(line, v * kRegisterBytes), vectors_ * kRegisterBytes);
    out_.line("call void @llvm.x86.tilezero(i8 {})", kSums);
    out_.line("call void @llvm.x86.tdpbssd(i8 {}, i8 {}, i8 {})", kSums, kRows, kWeights);
    out_.line("call void @llvm.x86.tilestored64(i8 {}, ptr %dots, i64 {})", kSums, kRegisterBytes);
    VectorCode vector(out_, target_, target_.lanes);
    const int64_t scales_byte = int64_t{kInt8Step / 4 * vectors_ + v} * kRegisterBytes;
    const IrValue column_scales = vector.load(DType::kF32, at(line, scales_byte));
    for (int row = 0; row < kInt8TileRows; ++row) {
      const IrValue dots =
          out_.let("load <16 x i32>, ptr {}, align 64", at("%dots", row * kRegisterBytes));
      const IrValue row_scale =
          vector.load_splat(DType::kF32, at(x, row * kInt8RowBytes + kInt8Step));
      const IrValue scale = vector.mul(row_scale, column_scales);
      const IrValue products = out_.let("sitofp <16 x i32> {} to <16 x float>", dots);
      out_.line(
          "%new.{0}.{1} = call <16 x float> @llvm.fmuladd.v16f32(<16 x float> {2}, "
          "<16 x float> {3}, <16 x float> %sum.{0}.{1})",
          v, row, products, scale);
    }
  }

  IrValue sums_at(int v, int row) {
    return at("%sums", int64_t{row * vectors_ + v} * kRegisterBytes);
  }
  template <typename Bytes>
  IrValue at(const IrValue& address, const Bytes& bytes) {
    return out_.let("getelementptr i8, ptr {}, i64 {}", address, bytes);
  }

  IrWriter& out_;
  const GemmCode& code_;
  const GemmTile& tile_;
  const Target& target_;
  const GemmPanel& panel_;
  int vectors_;  // of 16 columns
};

}  // namespace

std::span<const TileSize> int8_tile_registers() {
  static constexpr std::array<TileSize, 3> kSizes = {{{kInt8TileRows, kRegisterBytes},
                                                      {kInt8TileRows, kInt8Step},
                                                      {kInt8Step / 4, kRegisterBytes}}};
  return kSizes;
}

void emit_int8_tile(IrWriter& out, const GemmCode& code, const GemmTile& tile, const Target& target,
                    const GemmPanel& panel) {
  Int8Tile(out, code, tile, target, panel).emit();
}

}  // namespace epi::compiler
