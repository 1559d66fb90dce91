// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/gemm_vectors.h"

#include "epilogue/compiler/codegen/gemm_epilogue.h"
#include "epilogue/compiler/codegen/gemm_int8.h"
#include "epilogue/compiler/codegen/gemm_panel.h"

namespace epi::compiler {
namespace {

// Prefetch distance of a tall tile: 8 steps of 128 bytes are about the number of lines that a core
// keeps in flight. `epilogue_bench --benchmark_filter='compile/(mlp_f32|decode)'` shows the effect
// of a change.
constexpr int kAheadSteps = 8;
constexpr int kFlatRows = 4;
constexpr int kMaxStreams = 4;
constexpr int kMaxSteps = 2;
constexpr int64_t kLineBytes = 64;

// How a panel holds the weights.
struct Layout {
  DType dtype = DType::kF32;
  int64_t bytes = 0;         // of the weights of one step of k
  bool with_scales = false;  // the scales follow each group of 32 k
};

class GemmVectors {
 public:
  GemmVectors(const std::string& name, const GemmCode& code, const GemmTile& tile,
              const Target& target)
      : code_(code),
        tile_(tile),
        target_(target),
        packed_(packed_layout(code, tile)),
        unpacked_{DType::kF32, columns() * 4, false},
        steps_(by_pairs()            ? (code.k + 1) / 2
               : packed_.with_scales ? int8_steps(code) * kInt8Step
                                     : code.k),
        vectors_(tile.columns / target.lanes * code.gemms),
        panel_(name, code, tile, target,
               {steps_, step_bytes(packed_), word_bytes(), 1, code.int8 ? unpacked_.bytes : 0}) {}

  std::string emit() {
    if (code_.int8) emit_unpack();
    for (const int rows : panel_.heights()) emit_rows(rows);
    panel_.emit(out_, operators_of(code_));
    return out_.text();
  }

 private:
  static Layout packed_layout(const GemmCode& code, const GemmTile& tile) {
    const DType dtype = code.int8 ? DType::kI8 : code.dtype;
    const int together = tile.kind == GemmKind::kPairs ? 2 : 1;
    return {dtype, int64_t{tile.columns} * code.gemms * size_bytes(dtype) * together,
            code.int8 && code.int8->in_groups};
  }
  const Layout& layout(int rows) const { return panel_.is_unpacked(rows) ? unpacked_ : packed_; }
  // Bytes of the panel per step of k, with a part of the scales of a group.
  int64_t step_bytes(const Layout& layout) const {
    return layout.with_scales ? int8_panel_bytes(code_, tile_) / kInt8Step : layout.bytes;
  }

  bool by_pairs() const { return tile_.kind == GemmKind::kPairs; }
  bool by_halves() const { return tile_.kind == GemmKind::kHalves; }
  bool by_fmlal() const { return tile_.kind == GemmKind::kFmlal; }
  int64_t columns() const { return int64_t{tile_.columns} * code_.gemms; }
  // Size of an element of packed x, or of a pair.
  int64_t word_bytes() const { return by_fmlal() ? 2 : 4; }

  // A flat tile uses each part of its panel once. One that computes in passes is not flat: a pass
  // may have any number of steps.
  bool is_flat(int rows) const {
    return rows <= kFlatRows && !panel_.has_passes(rows) && !panel_.is_unpacked(rows);
  }
  // A flat tile reads its panel at several positions at once: memory serves several streams faster
  // than one, and the dependency chains of the sums are shorter (`epilogue bench mlp --m 1`).
  int streams_of(int rows) const {
    int streams = 1;
    while (is_flat(rows) && steps_ % (2 * streams) == 0 && streams < kMaxStreams &&
           2 * streams * rows * vectors_ <= target_.registers / 2) {
      streams *= 2;
    }
    return streams;
  }

  // Steps of one iteration. A flat tile takes two if one step is not a number of whole cache lines:
  // it prefetches the lines of both.
  int steps_at_once(int rows) const {
    int steps = 1;
    while (is_flat(rows) && steps * step_bytes(packed_) % kLineBytes != 0 && steps < kMaxSteps &&
           steps_ / streams_of(rows) % (2 * steps) == 0) {
      steps *= 2;
    }
    return steps;
  }

  // Multiplies `rows` rows of x, starting at %row, by the panel.
  void emit_rows(int rows) {
    const int streams = streams_of(rows);
    const int steps = steps_at_once(rows);
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
    emit_tile_start(out_, code_, tile_, rows);
    panel_.begin_loop(out_, rows, sums);
    for (int stream = 0; stream < streams; ++stream) {
      const IrValue first = out_.let("add i64 %k, {}", stream * (steps_ / streams));
      const IrValue line = emit_address(layout(rows), first);
      if (is_flat(rows)) {
        panel_.emit_prefetch(out_, line, steps * step_bytes(packed_), streams);
      } else {
        // A tall tile finds its panel in L2.
        const int64_t bytes = step_bytes(layout(rows));
        out_.prefetch(out_.let("getelementptr i8, ptr {}, i64 {}", line, kAheadSteps * bytes),
                      bytes, 1);
      }
      for (int step = 0; step < steps; ++step) {
        emit_multiply(rows, stream, out_.let("add i64 {}, {}", first, step),
                      step == 0 ? "%sum" : fmt::format("%step{}.", step),
                      step == steps - 1 ? "%new" : fmt::format("%step{}.", step + 1));
      }
    }
    panel_.end_loop(out_, rows, sums, streams, steps);
    emit_tile_end(out_, code_, target_, tile_, rows, [&](int row, int vector) {
      return panel_.emit_total(out_, fmt::format("{}.{}", row, vector), streams);
    });
    out_.end_function();
  }

  static std::string sum_name(int row, int vector, int stream) {
    return fmt::format("{}.{}.{}", row, vector, stream);
  }

  // The address of the weights of step k.
  IrValue emit_address(const Layout& layout, const IrValue& k) {
    if (!layout.with_scales) {
      const IrValue skipped = out_.let("mul i64 {}, {}", k, layout.bytes);
      return out_.let("getelementptr i8, ptr %panel, i64 {}", skipped);
    }
    const IrValue in_group = out_.let("and i64 {}, {}", k, kInt8Step - 1);
    const IrValue skipped = out_.let("mul i64 {}, {}", in_group, layout.bytes);
    return out_.let("getelementptr i8, ptr {}, i64 {}", emit_group_address(k), skipped);
  }
  // The address of the group that contains step k.
  IrValue emit_group_address(const IrValue& k) {
    const IrValue group = out_.let("udiv i64 {}, {}", k, kInt8Step);
    const IrValue skipped = out_.let("mul i64 {}, {}", group, int8_panel_bytes(code_, tile_));
    return out_.let("getelementptr i8, ptr %panel, i64 {}", skipped);
  }

  // Unpacks steps of the panel: converts the weights to f32 and multiplies them by the scales of
  // their groups.
  void emit_unpack() {
    out_.comment(fmt::format("{}: a part of the panel in f32", operators_of(code_)));
    panel_.begin_unpack(out_);
    out_.line("br label %step");
    out_.label("step");
    out_.line("%k = phi i64 [ %first, %entry ], [ %k.next, %step ]");
    out_.line("%done = sub i64 %k, %first");
    const IrValue from = emit_address(packed_, "%k");
    const IrValue to = out_.let("getelementptr [{} x i8], ptr %to, i64 %done", unpacked_.bytes);
    for (int v = 0; v < vectors_; ++v) {
      const IrValue at =
          out_.let("getelementptr i8, ptr {}, i64 {}", to, unpacked_.bytes / vectors_ * v);
      VectorCode(out_, target_, target_.lanes)
          .store(DType::kF32, emit_weights(packed_, from, "%k", v), at);
    }
    out_.line("%k.next = add i64 %k, 1");
    out_.line("%more = icmp slt i64 %k.next, %last");
    out_.line("br i1 %more, label %step, label %end");
    out_.label("end");
    out_.end_function();
  }

  // Adds step k to the sums. `from` and `to` are the prefixes of their names before and after.
  void emit_multiply(int rows, int stream, const IrValue& k, std::string_view from,
                     std::string_view to) {
    const IrValue line = emit_address(layout(rows), k);
    std::vector<IrValue> weights;
    for (int v = 0; v < vectors_; ++v) {
      if (by_fmlal() && v % 2 == 1) {
        weights.push_back(weights.back());  // the upper half
        continue;
      }
      if (by_halves()) {
        emit_halves(line, weights);
        break;
      }
      weights.push_back(emit_weights(layout(rows), line, k, v));
    }
    // The height of a full tile is constant. That of the last block is an argument.
    const std::string height = panel_.is_full(rows) ? fmt::format("{}", rows) : "%height";
    const IrValue column = out_.let("mul i64 {}, {}", k, height);
    const IrValue numbers = out_.let("getelementptr i{}, ptr %x, i64 {}", 8 * word_bytes(), column);
    for (int row = 0; row < rows;) {
      int count = static_cast<int>(16 / word_bytes());
      while (row + count > rows) count /= 2;
      const IrValue at =
          out_.let("getelementptr i{}, ptr {}, i64 {}", 8 * word_bytes(), numbers, row);
      const IrValue group = multiplies_by_lane() ? emit_group(at, count) : IrValue();
      for (int i = 0; i < count; ++i, ++row) {
        const IrValue number =
            multiplies_by_lane()
                ? emit_lane(group, i)
                : emit_number(out_.let("getelementptr i32, ptr {}, i64 {}", at, i));
        for (int v = 0; v < vectors_; ++v) {
          const std::string name = sum_name(row, v, stream);
          emit_add(fmt::format("{}{}", from, name), fmt::format("{}{}", to, name), number,
                   weights[static_cast<size_t>(v)], v % 2 == 1);
        }
      }
    }
  }

  // AArch64 multiplies by a lane of a register, so one load serves several rows. Neoverse V1 also
  // multiplies twice as fast by registers that a plain load has filled as by those that a
  // broadcasting load has filled.
  bool multiplies_by_lane() const { return !by_pairs() && target_.is_arm(); }
  // Loads `count` elements of x or of the weights, as the first lanes of a 16-byte vector.
  IrValue emit_group(const IrValue& at, int count) {
    const std::string type = by_fmlal() ? "half" : "float";
    const int lanes = static_cast<int>(16 / word_bytes());
    if (count == 1) {
      const IrValue number = out_.let("load {}, ptr {}, align {}", type, at, word_bytes());
      const IrValue first =
          out_.let("insertelement <{0} x {1}> poison, {1} {2}, i32 0", lanes, type, number);
      // Keeps LLVM from using a broadcasting load.
      return out_.let("call <{0} x {1}> asm \"\", \"=w,0\"(<{0} x {1}> {2})", lanes, type, first);
    }
    IrValue loaded = out_.let("load <{} x {}>, ptr {}, align {}", count, type, at, word_bytes());
    if (count == lanes) return loaded;
    std::string places;
    for (int i = 0; i < lanes; ++i) {
      places +=
          fmt::format("{}i32 {}", i == 0 ? "" : ", ", i < count ? fmt::to_string(i) : "poison");
    }
    return out_.let("shufflevector <{0} x {1}> {2}, <{0} x {1}> poison, <{3} x i32> <{4}>", count,
                    type, loaded, lanes, places);
  }
  IrValue emit_lane(const IrValue& group, int lane) {
    const int lanes = static_cast<int>(16 / word_bytes());
    std::string places;
    for (int i = 0; i < lanes; ++i) places += fmt::format("{}i32 {}", i == 0 ? "" : ", ", lane);
    return out_.let("shufflevector <{0} x {1}> {2}, <{0} x {1}> poison, <{0} x i32> <{3}>", lanes,
                    by_fmlal() ? "half" : "float", group, places);
  }

  // Loads vector v of the weights of step k, or of pairs of weights, at the address `line`. fmlal
  // takes them from either half of a register: the next vector is loaded as well.
  IrValue emit_weights(const Layout& layout, const IrValue& line, const IrValue& k, int v) {
    const IrValue at =
        out_.let("getelementptr i8, ptr {}, i64 {}", line, layout.bytes / vectors_ * v);
    if (by_fmlal()) return emit_group(at, v + 1 < vectors_ ? 8 : 4);
    if (by_pairs()) return out_.let("load {}, ptr {}, align 2", pairs_type(), at);
    VectorCode vector(out_, target_, target_.lanes);
    IrValue weights = vector.load(layout.dtype, at);
    if (!layout.with_scales) return weights;
    const IrValue scales = out_.let("getelementptr i8, ptr {}, i64 {}", emit_group_address(k),
                                    kInt8Step * layout.bytes + int64_t{4} * target_.lanes * v);
    return vector.mul(weights, vector.load(DType::kF32, scales));
  }

  // Loads the words of a step, whose halves are its two vectors of weights: tiles of x86 have no
  // more (vectors_tile). A half is converted to
  // f32 by one instruction, while two are necessary to widen and shift adjacent weights.
  void emit_halves(const IrValue& line, std::vector<IrValue>& weights) {
    const std::string words = fmt::format("<{} x i32>", target_.lanes);
    const IrValue both = out_.let("load {}, ptr {}, align 4", words, line);
    const IrValue lower = out_.let("shl {} {}, splat (i32 16)", words, both);
    const IrValue upper = out_.let("and {} {}, splat (i32 -65536)", words, both);
    for (const IrValue& half : {lower, upper}) {
      weights.push_back(out_.let("bitcast {} {} to <{} x float>", words, half, target_.lanes));
    }
  }

  // Broadcasts an element of x, or a pair, to all lanes.
  IrValue emit_number(const IrValue& at) {
    VectorCode vector(out_, target_, target_.lanes);
    IrValue number = vector.splat(out_.let("load float, ptr {}, align 4", at));
    if (!by_pairs()) return number;
    return out_.let("bitcast {} {} to {}", vector.type(), number, pairs_type());
  }

  std::string pairs_type() const { return fmt::format("<{} x bfloat>", 2 * target_.lanes); }

  void emit_add(const IrValue& sum, const IrValue& result, const IrValue& number,
                const IrValue& weights, bool upper_half) {
    const std::string type = fmt::format("<{} x float>", target_.lanes);
    if (by_fmlal()) {
      out_.line(
          "{} = call <4 x float> @llvm.aarch64.neon.fmlal{}.v4f32.v8f16(<4 x float> {}, <8 x half> "
          "{}, <8 x half> {})",
          result, upper_half ? "2" : "", sum, weights, number);
    } else if (by_pairs()) {
      out_.line("{0} = call {1} @{2}({1} {3}, {4} {5}, {4} {6})", result, type, target_.bf16_pairs,
                sum, pairs_type(), number, weights);
    } else {
      out_.line("{0} = call {1} @llvm.fmuladd.v{2}f32({1} {3}, {1} {4}, {1} {5})", result, type,
                target_.lanes, number, weights, sum);
    }
  }

  const GemmCode& code_;
  const GemmTile& tile_;
  const Target& target_;
  Layout packed_;
  Layout unpacked_;
  int64_t steps_;  // along k
  int vectors_;    // per row of the panel
  GemmPanel panel_;
  IrWriter out_;
};

}  // namespace

std::string emit_gemm_vectors(const std::string& name, const GemmCode& code, const GemmTile& tile,
                              const Target& target) {
  return GemmVectors(name, code, tile, target).emit();
}

}  // namespace epi::compiler
