// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/gemm_mmla.h"

#include "epilogue/compiler/codegen/gemm_epilogue.h"
#include "epilogue/compiler/codegen/gemm_panel.h"

namespace epi::compiler {
namespace {

constexpr int kLanes = 4;
constexpr int64_t kGroupBytes = kMmlaDepth * 2;              // of one row or column in a step
constexpr int64_t kRegisterBytes = kMmlaRows * kGroupBytes;  // of two rows or columns
constexpr int kMaxSums = 24;                                 // of 32 registers
constexpr int kMaxStreams = 4;
// A flat tile streams its panel from memory and prefetches it. A full tile finds its part of the
// panel in L1.
constexpr int kFlatRows = 4;

class GemmMmla {
 public:
  GemmMmla(const std::string& name, const GemmCode& code, const GemmTile& tile,
           const Target& target)
      : code_(code),
        tile_(tile),
        target_(target),
        steps_((code.k + kMmlaDepth - 1) / kMmlaDepth),
        pairs_(tile.columns * code.gemms / kMmlaRows),
        may_pass_end_(code.n % tile.columns != 0),
        panel_(name, code, tile, target,
               {steps_, pairs_ * kRegisterBytes, kGroupBytes, kMmlaRows}) {}

  std::string emit() {
    for (const int height : panel_.heights()) emit_tile(height);
    panel_.emit(out_, operators_of(code_));
    return out_.text();
  }

 private:
  // A flat tile reads its panel at several positions at once: memory serves several streams faster
  // than one, and the dependency chains of the sums are shorter.
  int streams_of(int height) const {
    int streams = 1;
    while (height <= kFlatRows && steps_ % (2 * streams) == 0 && streams < kMaxStreams &&
           2 * streams * height / kMmlaRows * pairs_ <= kMaxSums) {
      streams *= 2;
    }
    return streams;
  }

  static std::string sum_name(int rows, int columns, int stream) {
    return fmt::format("{}.{}.{}", rows, columns, stream);
  }

  void emit_tile(int height) {
    const int streams = streams_of(height);
    std::vector<std::string> sums;
    for (int rows = 0; rows < height / kMmlaRows; ++rows) {
      for (int columns = 0; columns < pairs_; ++columns) {
        for (int stream = 0; stream < streams; ++stream) {
          sums.push_back(sum_name(rows, columns, stream));
        }
      }
    }
    out_.comment(fmt::format("{}: a tile of {} rows by {} columns, four k at a time",
                             operators_of(code_), height, tile_.columns));
    panel_.begin_tile(out_, height);
    emit_addresses(out_, code_);
    if (has_long_epilogue(code_)) {
      out_.line("%tile = alloca [{} x float], align 64", height * tile_.columns * code_.gemms);
    }
    panel_.begin_loop(out_, height, sums);
    for (int stream = 0; stream < streams; ++stream) {
      const IrValue k = out_.let("add i64 %k, {}", stream * (steps_ / streams));
      emit_multiply(height, stream, streams, k);
    }
    panel_.end_loop(out_, height, sums, streams);
    emit_finish(height, streams);
    out_.end_function();
  }

  void emit_multiply(int height, int stream, int streams, const IrValue& k) {
    const std::string packed =
        panel_.is_full(height) ? fmt::format("{}", height) : std::string("%height");
    const IrValue groups = out_.let("mul i64 {}, {}", k, packed);
    const IrValue numbers =
        out_.let("getelementptr [{} x i8], ptr %x, i64 {}", kGroupBytes, groups);
    std::vector<IrValue> rows;
    for (int pair = 0; pair < height / kMmlaRows; ++pair) rows.push_back(emit_load(numbers, pair));
    const IrValue skipped = out_.let("mul i64 {}, {}", k, pairs_ * kRegisterBytes);
    const IrValue line = out_.let("getelementptr i8, ptr %panel, i64 {}", skipped);
    if (height <= kFlatRows) {
      panel_.emit_prefetch(out_, line, pairs_ * kRegisterBytes, streams);
    }
    for (int columns = 0; columns < pairs_; ++columns) {
      const IrValue weights = emit_load(line, columns);
      for (int pair = 0; pair < height / kMmlaRows; ++pair) {
        out_.line(
            "%new{0} = call <4 x float> @llvm.aarch64.neon.bfmmla(<4 x float> %sum{0}, "
            "<8 x bfloat> {1}, <8 x bfloat> {2})",
            sum_name(pair, columns, stream), rows[static_cast<size_t>(pair)], weights);
      }
    }
  }

  IrValue emit_load(const IrValue& from, int index) {
    const IrValue at = out_.let("getelementptr i8, ptr {}, i64 {}", from, index * kRegisterBytes);
    return out_.let("load <8 x bfloat>, ptr {}, align 8", at);
  }

  // The last row of a tile below the full ones may not exist.
  void emit_finish(int height, int streams) {
    if (has_long_epilogue(code_)) {
      for (int row = 0; row < height; ++row) store_row(row, streams);
      const IrValue rows = panel_.is_full(height)
                               ? fmt::format("{}", height)
                               : out_.let("call i64 @llvm.smin.i64(i64 %rows, i64 {})", height);
      emit_epilogue_loop(out_, code_, target_, {"%tile", height, tile_.columns, rows}, "finish");
      return;
    }
    for (int row = 0; row < height; ++row) {
      const bool optional = !panel_.is_full(height) && row == height - 1;
      if (optional) {
        out_.line("%exists = icmp sge i64 %rows, {}", height);
        out_.line("br i1 %exists, label %last.row, label %end");
        out_.label("last.row");
      }
      emit_row(row, streams);
      if (optional) {
        out_.line("br label %end");
        out_.label("end");
      }
    }
  }

  void store_row(int row, int streams) {
    VectorCode code(out_, target_, kLanes);
    for (int column = 0; column < tile_.columns * code_.gemms; column += kLanes) {
      const int place = row * tile_.columns * code_.gemms + column;
      code.store(DType::kF32, emit_sums(row, column / kMmlaRows, streams),
                 out_.let("getelementptr float, ptr %tile, i64 {}", place));
    }
  }

  void emit_row(int row, int streams) {
    const IrValue at_row = out_.let("add i64 %row, {}", row);
    for (int column = 0; column < tile_.columns; column += kLanes) {
      std::vector<IrValue> sums;
      for (int gemm = 0; gemm < code_.gemms; ++gemm) {
        sums.push_back(emit_sums(row, (gemm * tile_.columns + column) / kMmlaRows, streams));
      }
      const IrValue at_column = out_.let("add i64 %column, {}", column);
      emit_epilogue(out_, code_, target_, sums, at_row, at_column, may_pass_end_);
    }
  }

  // The sums of a row in the columns of two registers.
  IrValue emit_sums(int row, int pair, int streams) {
    const auto total = [&](int columns) {
      return panel_.emit_total(out_, fmt::format("{}.{}", row / kMmlaRows, columns), streams);
    };
    const IrValue left = total(pair);
    const IrValue right = total(pair + 1);
    return out_.let(
        "shufflevector <4 x float> {}, <4 x float> {}, <4 x i32> {}", left, right,
        row % kMmlaRows == 0 ? "<i32 0, i32 1, i32 4, i32 5>" : "<i32 2, i32 3, i32 6, i32 7>");
  }

  const GemmCode& code_;
  const GemmTile& tile_;
  const Target& target_;
  int64_t steps_;  // along k
  int pairs_;      // of columns of all GEMMs
  bool may_pass_end_;
  GemmPanel panel_;
  IrWriter out_;
};

}  // namespace

std::string emit_gemm_mmla(const std::string& name, const GemmCode& code, const GemmTile& tile,
                           const Target& target) {
  return GemmMmla(name, code, tile, target).emit();
}

}  // namespace epi::compiler
