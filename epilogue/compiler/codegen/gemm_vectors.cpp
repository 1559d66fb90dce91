// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/gemm_vectors.h"

#include "epilogue/compiler/codegen/gemm_epilogue.h"
#include "epilogue/compiler/codegen/gemm_panel.h"

namespace epi::compiler {
namespace {

// Prefetch distance in rows of a panel, and the target cache. A tall tile finds its panel in L2 and
// prefetches it into L1: 8 rows of 128 bytes are about the number of lines that a core keeps in
// flight. A flat tile streams its panel from memory into L2, which tracks more lines.
// `epilogue_bench --benchmark_filter='compile/(mlp_f32|decode)'` shows the effect of a change.
struct Prefetch {
  int rows;
  int locality;  // of llvm.prefetch: 3 is L1, 2 is L2
};
constexpr Prefetch kTallPrefetch{8, 3};
constexpr Prefetch kFlatPrefetch{64, 2};
constexpr int kFlatRows = 4;
constexpr int kMaxStreams = 4;

class GemmVectors {
 public:
  GemmVectors(const std::string& name, const GemmCode& code, const GemmTile& tile,
              const Target& target)
      : code_(code),
        tile_(tile),
        target_(target),
        steps_(tile.kind == GemmKind::kPairs ? (code.k + 1) / 2 : code.k),
        vectors_(tile.columns / target.lanes * code.gemms),
        may_pass_end_(code.n % tile.columns != 0),
        panel_(name, code, tile, target, {steps_, panel_bytes(), 4, 1}) {}

  std::string emit() {
    for (const int rows : panel_.heights()) emit_rows(rows);
    panel_.emit(out_, operators_of(code_));
    return out_.text();
  }

 private:
  bool by_pairs() const { return tile_.kind == GemmKind::kPairs; }
  // Bytes of the panel per step of k.
  int64_t panel_bytes() const {
    return int64_t{tile_.columns} * code_.gemms * size_bytes(code_.dtype) * (by_pairs() ? 2 : 1);
  }

  // A flat tile reads its panel at several positions at once: memory serves several streams faster
  // than one, and the dependency chains of the sums are shorter (`epilogue bench mlp --m 1`).
  int streams_of(int rows) const {
    int streams = 1;
    while (rows <= kFlatRows && steps_ % (2 * streams) == 0 && streams < kMaxStreams &&
           2 * streams * rows * vectors_ <= target_.registers / 2) {
      streams *= 2;
    }
    return streams;
  }

  // Multiplies `rows` rows of x, starting at %row, by the panel.
  void emit_rows(int rows) {
    const int streams = streams_of(rows);
    out_.comment(fmt::format("{}: a tile of {} row{} by {} columns, over all of k{}",
                             operators_of(code_), rows, rows == 1 ? "" : "s", tile_.columns,
                             by_pairs() ? ", two at a time" : ""));
    std::vector<std::string> sums;
    for (int row = 0; row < rows; ++row) {
      for (int v = 0; v < vectors_; ++v) {
        for (int stream = 0; stream < streams; ++stream) sums.push_back(sum_name(row, v, stream));
      }
    }
    panel_.begin_tile(out_, rows);
    emit_addresses(out_, code_);
    if (has_long_epilogue(code_)) {
      out_.line("%tile = alloca [{} x float], align 64", rows * vectors_ * target_.lanes);
    }
    panel_.begin_loop(out_, rows, sums);
    for (int stream = 0; stream < streams; ++stream) {
      const IrValue k = out_.let("add i64 %k, {}", stream * (steps_ / streams));
      emit_multiply(rows, stream, k);
    }
    panel_.end_loop(out_, rows, sums, streams);
    emit_finish(rows, streams);
    out_.end_function();
  }

  static std::string sum_name(int row, int vector, int stream) {
    return fmt::format("{}.{}.{}", row, vector, stream);
  }

  void emit_multiply(int rows, int stream, const IrValue& k) {
    const IrValue skipped = out_.let("mul i64 {}, {}", k, panel_bytes());
    const IrValue line = out_.let("getelementptr i8, ptr %panel, i64 {}", skipped);
    emit_prefetch(line, rows);
    std::vector<IrValue> weights;
    for (int v = 0; v < vectors_; ++v) {
      weights.push_back(emit_weights(
          out_.let("getelementptr i8, ptr {}, i64 {}", line, panel_bytes() / vectors_ * v)));
    }
    // The height of a full tile is constant. That of the last block is an argument.
    const std::string height = panel_.is_full(rows) ? fmt::format("{}", rows) : "%height";
    const IrValue column = out_.let("mul i64 {}, {}", k, height);
    const IrValue numbers = out_.let("getelementptr i32, ptr %x, i64 {}", column);
    for (int row = 0; row < rows;) {
      const int count = row + 4 <= rows ? 4 : row + 2 <= rows ? 2 : 1;
      const IrValue at = out_.let("getelementptr i32, ptr {}, i64 {}", numbers, row);
      const IrValue group = multiplies_by_lane() ? emit_group(at, count) : IrValue();
      for (int i = 0; i < count; ++i, ++row) {
        const IrValue number =
            multiplies_by_lane()
                ? emit_lane(group, i)
                : emit_number(out_.let("getelementptr i32, ptr {}, i64 {}", at, i));
        for (int v = 0; v < vectors_; ++v) {
          emit_add(sum_name(row, v, stream), number, weights[static_cast<size_t>(v)]);
        }
      }
    }
  }

  // AArch64 multiplies by a lane of a register, so one load serves several rows. Neoverse V1 also
  // multiplies twice as fast by registers that a plain load has filled as by those that a
  // broadcasting load has filled.
  bool multiplies_by_lane() const { return !by_pairs() && target_.is_arm(); }
  // Loads 1, 2 or 4 elements of x, as the first lanes of a vector.
  IrValue emit_group(const IrValue& at, int count) {
    if (count == 4) return out_.let("load <4 x float>, ptr {}, align 4", at);
    if (count == 1) {
      const IrValue number = out_.let("load float, ptr {}, align 4", at);
      return out_.let("insertelement <4 x float> poison, float {}, i32 0", number);
    }
    const IrValue two = out_.let("load <2 x float>, ptr {}, align 4", at);
    return out_.let(
        "shufflevector <2 x float> {}, <2 x float> poison, <4 x i32> <i32 0, i32 1, i32 poison, "
        "i32 poison>",
        two);
  }
  IrValue emit_lane(const IrValue& group, int lane) {
    return out_.let(
        "shufflevector <4 x float> {0}, <4 x float> poison, <4 x i32> <i32 {1}, i32 {1}, i32 {1}, "
        "i32 {1}>",
        group, lane);
  }

  // Loads a vector of weights, or of pairs of weights.
  IrValue emit_weights(const IrValue& at) {
    if (by_pairs()) return out_.let("load {}, ptr {}, align 2", pairs_type(), at);
    return VectorCode(out_, target_, target_.lanes).load(code_.dtype, at);
  }

  // Broadcasts an element of x, or a pair, to all lanes.
  IrValue emit_number(const IrValue& at) {
    VectorCode vector(out_, target_, target_.lanes);
    IrValue number = vector.splat(out_.let("load float, ptr {}, align 4", at));
    if (!by_pairs()) return number;
    return out_.let("bitcast {} {} to {}", vector.type(), number, pairs_type());
  }

  std::string pairs_type() const { return fmt::format("<{} x bfloat>", 2 * target_.lanes); }

  void emit_add(const std::string& sum, const IrValue& number, const IrValue& weights) {
    const std::string type = fmt::format("<{} x float>", target_.lanes);
    if (by_pairs()) {
      out_.line("%new{0} = call {1} @{2}({1} %sum{0}, {3} {4}, {3} {5})", sum, type,
                target_.bf16_pairs, pairs_type(), number, weights);
    } else {
      out_.line("%new{0} = call {1} @llvm.fmuladd.v{2}f32({1} {3}, {1} {4}, {1} %sum{0})", sum,
                type, target_.lanes, number, weights);
    }
  }

  void emit_prefetch(const IrValue& line, int rows) {
    const auto [ahead, locality] = rows <= kFlatRows ? kFlatPrefetch : kTallPrefetch;
    for (int64_t byte = 0; byte < panel_bytes(); byte += 64) {
      const IrValue at =
          out_.let("getelementptr i8, ptr {}, i64 {}", line, ahead * panel_bytes() + byte);
      out_.line("call void @llvm.prefetch.p0(ptr {}, i32 0, i32 {}, i32 1)", at, locality);
    }
  }

  void emit_finish(int rows, int streams) {
    const bool by_rows = has_long_epilogue(code_);
    const int each = vectors_ / code_.gemms;
    for (int row = 0; row < rows; ++row) {
      if (by_rows) {
        store_row(row, streams);
        continue;
      }
      const IrValue at_row = out_.let("add i64 %row, {}", row);
      for (int v = 0; v < each; ++v) {
        std::vector<IrValue> sums;
        for (int gemm = 0; gemm < code_.gemms; ++gemm) {
          sums.push_back(emit_total(row, gemm * each + v, streams));
        }
        const IrValue at_column = out_.let("add i64 %column, {}", v * target_.lanes);
        emit_epilogue(out_, code_, target_, sums, at_row, at_column, may_pass_end_);
      }
    }
    if (!by_rows) return;
    emit_epilogue_loop(out_, code_, target_,
                       {"%tile", rows, tile_.columns, fmt::format("{}", rows)}, "finish");
  }

  void store_row(int row, int streams) {
    VectorCode code(out_, target_, target_.lanes);
    for (int v = 0; v < vectors_; ++v) {
      const int place = (row * vectors_ + v) * target_.lanes;
      code.store(DType::kF32, emit_total(row, v, streams),
                 out_.let("getelementptr float, ptr %tile, i64 {}", place));
    }
  }

  IrValue emit_total(int row, int vector, int streams) {
    VectorCode code(out_, target_, target_.lanes);
    IrValue total = "%new" + sum_name(row, vector, 0);
    for (int stream = 1; stream < streams; ++stream) {
      total = code.add(total, "%new" + sum_name(row, vector, stream));
    }
    return total;
  }

  const GemmCode& code_;
  const GemmTile& tile_;
  const Target& target_;
  int64_t steps_;  // along k
  int vectors_;    // per row of the panel
  bool may_pass_end_;
  GemmPanel panel_;
  IrWriter out_;
};

}  // namespace

std::string emit_gemm_vectors(const std::string& name, const GemmCode& code, const GemmTile& tile,
                              const Target& target) {
  return GemmVectors(name, code, tile, target).emit();
}

}  // namespace epi::compiler
