// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/gemm_int8.h"

#include <algorithm>

#include "epilogue/compiler/codegen/gemm_epilogue.h"
#include "epilogue/compiler/codegen/gemm_int8_tile.h"
#include "epilogue/compiler/codegen/gemm_panel.h"

namespace epi::compiler {
namespace {

constexpr int kWords = kInt8Step / 4;  // of four k in a step
constexpr int kFlatRows = 2;
constexpr int kMaxStreams = 4;

class GemmInt8 {
 public:
  GemmInt8(const std::string& name, const GemmCode& code, const GemmTile& tile,
           const Target& target)
      : code_(code),
        tile_(tile),
        target_(target),
        steps_(int8_steps(code)),
        vectors_(tile.columns / target.lanes * code.gemms),
        panel_(name, code, tile, target, step_of(code, tile)),
        integers_(fmt::format("<{} x i32>", target.lanes)),
        floats_(fmt::format("<{} x float>", target.lanes)) {}

  std::string emit() {
    for (const int rows : panel_.heights()) {
      if (tile_.kind == GemmKind::kInt8Tiles && panel_.is_full(rows)) {
        emit_int8_tile(out_, code_, tile_, target_, panel_);
      } else {
        emit_rows(rows);
      }
    }
    panel_.emit(out_, operators_of(code_));
    return out_.text();
  }

 private:
  static GemmPanel::Step step_of(const GemmCode& code, const GemmTile& tile) {
    GemmPanel::Step step{int8_steps(code), int8_panel_bytes(code, tile), kInt8RowBytes, 1};
    if (tile.kind == GemmKind::kInt8Tiles) step.tile_registers = int8_tile_registers();
    return step;
  }
  bool uses_vpdpbusd() const {
    return tile_.kind == GemmKind::kVnni || tile_.kind == GemmKind::kInt8Tiles;
  }
  // Rows whose integer sums are in registers. They are independent of each other, which hides
  // latency.
  int rows_at_once() const { return target_.lanes == 16 ? 8 : 4; }

  // A flat tile reads its panel at several positions at once, as in gemm_vectors.cpp.
  bool is_flat(int rows) const { return rows <= kFlatRows && !panel_.has_passes(rows); }
  int streams_of(int rows) const {
    int streams = 1;
    while (is_flat(rows) && steps_ % (2 * streams) == 0 && streams < kMaxStreams &&
           2 * streams * rows * vectors_ <= target_.registers / 2) {
      streams *= 2;
    }
    return streams;
  }

  static std::string sum_name(int row, int vector, int stream) {
    return fmt::format("{}.{}.{}", row, vector, stream);
  }

  void emit_rows(int rows) {
    const int streams = streams_of(rows);
    std::vector<std::string> sums;
    for (int row = 0; row < rows; ++row) {
      for (int v = 0; v < vectors_; ++v) {
        for (int stream = 0; stream < streams; ++stream) sums.push_back(sum_name(row, v, stream));
      }
    }
    out_.comment(fmt::format("{}: a tile of {} row{} by {} columns, {} k at a time",
                             operators_of(code_), rows, rows == 1 ? "" : "s", tile_.columns,
                             kInt8Step));
    panel_.begin_tile(out_, rows);
    emit_tile_start(out_, code_, tile_, rows);
    panel_.begin_loop(out_, rows, sums);
    for (int stream = 0; stream < streams; ++stream) {
      emit_multiply(rows, stream, streams, out_.let("add i64 %k, {}", stream * (steps_ / streams)));
    }
    panel_.end_loop(out_, rows, sums, streams);
    emit_tile_end(out_, code_, target_, tile_, rows, [&](int row, int vector) {
      return panel_.emit_total(out_, fmt::format("{}.{}", row, vector), streams);
    });
    out_.end_function();
  }

  // The integer sums of a group are exact. They become floats once per group.
  void emit_multiply(int rows, int stream, int streams, const IrValue& k) {
    const IrValue skipped = out_.let("mul i64 {}, {}", k, int8_panel_bytes(code_, tile_));
    const IrValue line = out_.let("getelementptr i8, ptr %panel, i64 {}", skipped);
    if (is_flat(rows)) {
      panel_.emit_prefetch(out_, line, int8_panel_bytes(code_, tile_), streams);
    }
    const std::string height = panel_.is_full(rows) ? fmt::format("{}", rows) : "%height";
    const IrValue above = out_.let("mul i64 {}, {}", k, height);
    const IrValue numbers =
        out_.let("getelementptr [{} x i8], ptr %x, i64 {}", kInt8RowBytes, above);
    for (int v = 0; v < vectors_; ++v) {
      // Keeps LLVM from loading x once for all vectors: there are not enough registers.
      const IrValue x = out_.let("call ptr asm \"\", \"=r,0\"(ptr {})", numbers);
      emit_vector(v, rows, stream, line, x);
    }
  }

  // Adds a step to the sums of one vector of columns in all rows.
  void emit_vector(int v, int rows, int stream, const IrValue& line, const IrValue& x) {
    VectorCode vector(out_, target_, target_.lanes);
    const int64_t vector_bytes = int64_t{4} * target_.lanes;
    std::vector<IrValue> weights;  // loaded at their first use
    const IrValue column_scales =
        code_.int8->in_groups ? emit_load(floats_, line, (kWords * vectors_ + v) * vector_bytes)
                              : IrValue();
    for (int first = 0; first < rows; first += rows_at_once()) {
      const int last = std::min(first + rows_at_once(), rows);
      std::vector<IrValue> sums;
      for (int row = first; row < last; ++row) {
        sums.push_back(uses_vpdpbusd() ? emit_integer(x, row * kInt8RowBytes + kInt8Step + 4)
                                       : "zeroinitializer");
      }
      for (int word = 0; word < kWords; ++word) {
        if (first == 0) {
          weights.push_back(emit_weights(line, (word * vectors_ + v) * vector_bytes));
        }
        for (int row = first; row < last; ++row) {
          IrValue& sum = sums[static_cast<size_t>(row - first)];
          sum = emit_dots(sum, weights[static_cast<size_t>(word)],
                          emit_integer(x, row * kInt8RowBytes + int64_t{4} * word));
        }
      }
      for (int row = first; row < last; ++row) {
        const IrValue at =
            out_.let("getelementptr i8, ptr {}, i64 {}", x, row * kInt8RowBytes + kInt8Step);
        IrValue scale = vector.load_splat(DType::kF32, at);
        if (code_.int8->in_groups) scale = vector.mul(scale, column_scales);
        const IrValue products = out_.let("sitofp {} {} to {}", integers_,
                                          sums[static_cast<size_t>(row - first)], floats_);
        out_.line("%new{0} = call {1} @llvm.fmuladd.v{2}f32({1} {3}, {1} {4}, {1} %sum{0})",
                  sum_name(row, v, stream), floats_, target_.lanes, products, scale);
      }
    }
  }

  IrValue emit_weights(const IrValue& line, int64_t byte) {
    IrValue weights = emit_load(integers_, line, byte);
    if (tile_.kind != GemmKind::kInt8Tiles) return weights;
    std::string sign_bits;  // flipping them adds 128
    for (int i = 0; i < target_.lanes; ++i) {
      sign_bits += fmt::format("{}i32 {}", i == 0 ? "" : ", ", int32_t{-0x7f7f7f80});
    }
    return out_.let("xor {} {}, <{}>", integers_, weights, sign_bits);
  }

  // Adds the dot products of four int8 in each lane.
  IrValue emit_dots(const IrValue& sum, const IrValue& weights, const IrValue& number) {
    if (uses_vpdpbusd()) {
      return out_.let("call {0} @{1}({0} {2}, {0} {3}, {0} {4})", integers_, target_.int8_dots, sum,
                      weights, number);
    }
    if (!target_.int8_dots.empty()) {
      return out_.let("call <4 x i32> @{}(<4 x i32> {}, <16 x i8> {}, <16 x i8> {})",
                      target_.int8_dots, sum, emit_cast("<16 x i8>", weights),
                      emit_cast("<16 x i8>", number));
    }
    // The even and the odd bytes of each lane as pairs of 16-bit integers.
    IrValue total = sum;
    for (const bool odd : {false, true}) {
      total = out_.let("add {} {}, {}", integers_, total,
                       emit_pairs(emit_bytes(weights, odd), emit_bytes(number, odd)));
    }
    return total;
  }

  IrValue emit_bytes(const IrValue& words, bool odd) {
    IrValue bytes = emit_cast(shorts(), words);
    std::string eight;
    for (int i = 0; i < 2 * target_.lanes; ++i) eight += i == 0 ? "i16 8" : ", i16 8";
    if (!odd) bytes = out_.let("shl {} {}, <{}>", shorts(), bytes, eight);
    return out_.let("ashr {} {}, <{}>", shorts(), bytes, eight);
  }

  // In each lane, the sum of the products of two 16-bit integers.
  IrValue emit_pairs(const IrValue& a, const IrValue& b) {
    if (!target_.is_arm()) {
      const char* add = target_.lanes == 4   ? "llvm.x86.sse2.pmadd.wd"
                        : target_.lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                                             : "llvm.x86.avx512.pmaddw.d.512";
      return out_.let("call {0} @{1}({2} {3}, {2} {4})", integers_, add, shorts(), a, b);
    }
    const std::string wide = fmt::format("<{} x i32>", 2 * target_.lanes);
    const IrValue left = out_.let("sext {} {} to {}", shorts(), a, wide);
    const IrValue right = out_.let("sext {} {} to {}", shorts(), b, wide);
    const IrValue products = out_.let("mul {} {}, {}", wide, left, right);
    IrValue sum;
    for (int first = 0; first < 2; ++first) {
      std::string places;
      for (int i = 0; i < target_.lanes; ++i) {
        places += fmt::format("{}i32 {}", i == 0 ? "" : ", ", 2 * i + first);
      }
      const IrValue part = out_.let("shufflevector {0} {1}, {0} poison, <{2} x i32> <{3}>", wide,
                                    products, target_.lanes, places);
      sum = first == 0 ? part : out_.let("add {} {}, {}", integers_, sum, part);
    }
    return sum;
  }

  std::string shorts() const { return fmt::format("<{} x i16>", 2 * target_.lanes); }
  IrValue emit_cast(std::string_view type, const IrValue& value) {
    return out_.let("bitcast {} {} to {}", integers_, value, type);
  }
  IrValue emit_load(std::string_view type, const IrValue& from, int64_t byte) {
    const IrValue at = out_.let("getelementptr i8, ptr {}, i64 {}", from, byte);
    return out_.let("load {}, ptr {}, align 4", type, at);
  }
  // A 32-bit integer in all lanes.
  IrValue emit_integer(const IrValue& from, int64_t byte) {
    const IrValue number = emit_load("i32", from, byte);
    const IrValue first = out_.let("insertelement {} poison, i32 {}, i32 0", integers_, number);
    return out_.let("shufflevector {0} {1}, {0} poison, {0} zeroinitializer", integers_, first);
  }

  const GemmCode& code_;
  const GemmTile& tile_;
  const Target& target_;
  int64_t steps_;  // along k
  int vectors_;    // per row of the panel
  GemmPanel panel_;
  std::string integers_;  // "<16 x i32>"
  std::string floats_;
  IrWriter out_;
};

}  // namespace

std::string emit_gemm_int8(const std::string& name, const GemmCode& code, const GemmTile& tile,
                           const Target& target) {
  return GemmInt8(name, code, tile, target).emit();
}

}  // namespace epi::compiler
