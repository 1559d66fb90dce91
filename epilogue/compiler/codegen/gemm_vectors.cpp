// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/gemm_vectors.h"

#include "epilogue/compiler/codegen/gemm_epilogue.h"

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
  GemmVectors(std::string name, const GemmCode& code, const GemmTile& tile, const Target& target)
      : name_(std::move(name)),
        code_(code),
        tile_(tile),
        target_(target),
        steps_(tile.kind == GemmKind::kPairs ? (code.k + 1) / 2 : code.k),
        vectors_(tile.columns / target.lanes * code.gemms),
        may_pass_end_(code.n % tile.columns != 0) {
    heights_ = {tile.rows};
    for (const int rows : {8, 4, 2, 1}) {
      if (rows < tile.rows) heights_.push_back(rows);
    }
  }

  std::string emit() {
    for (const int rows : heights_) emit_rows(rows);
    emit_panel();
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
    out_.begin_function("internal ", fmt::format("{}.{}", name_, rows),
                        "ptr %args, ptr %x, i64 %height, ptr %panel, i64 %row, i64 %column");
    emit_addresses(out_, code_);
    out_.line("br label %multiply");
    out_.label("multiply");
    out_.line("%k = phi i64 [ 0, %entry ], [ %k.next, %multiply ]");
    for_each_sum(rows, streams, [&](const std::string& sum) {
      out_.line("%sum{0} = phi <{1} x float> [ zeroinitializer, %entry ], [ %new{0}, %multiply ]",
                sum, target_.lanes);
    });
    for (int stream = 0; stream < streams; ++stream) {
      const IrValue k = out_.let("add i64 %k, {}", stream * (steps_ / streams));
      emit_multiply(rows, stream, k);
    }
    out_.line("%k.next = add i64 %k, 1");
    out_.line("%more = icmp slt i64 %k.next, {}", steps_ / streams);
    out_.line("br i1 %more, label %multiply, label %finish");
    out_.label("finish");
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
    const std::string height = rows == tile_.rows ? fmt::format("{}", rows) : "%height";
    const IrValue column = out_.let("mul i64 {}, {}", k, height);
    const IrValue numbers = out_.let("getelementptr i32, ptr %x, i64 {}", column);
    for (int row = 0; row < rows; ++row) {
      const IrValue number =
          emit_number(out_.let("getelementptr i32, ptr {}, i64 {}", numbers, row));
      for (int v = 0; v < vectors_; ++v) {
        emit_add(sum_name(row, v, stream), number, weights[static_cast<size_t>(v)]);
      }
    }
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
    const int each = vectors_ / code_.gemms;
    for (int row = 0; row < rows; ++row) {
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
  }

  IrValue emit_total(int row, int vector, int streams) {
    VectorCode code(out_, target_, target_.lanes);
    IrValue total = "%new" + sum_name(row, vector, 0);
    for (int stream = 1; stream < streams; ++stream) {
      total = code.add(total, "%new" + sum_name(row, vector, stream));
    }
    return total;
  }

  // Iterates over the rows, with the tallest tile that fits first.
  void emit_panel() {
    out_.comment(fmt::format("{}: loop over the rows of a panel of {} columns, tallest tiles first",
                             operators_of(code_), tile_.columns));
    out_.begin_function("", name_, "ptr %args, i64 %row_begin, i64 %row_end, i64 %panel");
    out_.line("%x = load ptr, ptr %args, align 8");
    out_.line("%weights.at = getelementptr ptr, ptr %args, i64 2");
    out_.line("%weights = load ptr, ptr %weights.at, align 8");
    out_.line("%skipped = mul i64 %panel, {}", panel_bytes() * steps_);
    out_.line("%w = getelementptr i8, ptr %weights, i64 %skipped");
    out_.line("%column = mul i64 %panel, {}", tile_.columns);
    out_.line("br label %next");
    out_.label("next");
    std::string sources = "[ %row_begin, %entry ]";
    for (const int rows : heights_) sources += fmt::format(", [ %row.{0}, %take.{0} ]", rows);
    out_.line("%row = phi i64 {}", sources);
    out_.line("%left = sub i64 %row_end, %row");
    emit_packed_address();
    out_.line("br label %try.{}", heights_[0]);
    for (size_t i = 0; i < heights_.size(); ++i) emit_choice(i);
    out_.label("done");
    out_.end_function();
  }

  // The address of the packed rows starting at %row, and the height of their block.
  void emit_packed_address() {
    out_.line("%inside = urem i64 %row, {}", tile_.rows);
    out_.line("%block = sub i64 %row, %inside");
    out_.line("%below = sub i64 %row_end, %block");
    out_.line("%height = call i64 @llvm.umin.i64(i64 %below, i64 {})", tile_.rows);
    out_.line("%above = mul i64 %block, {}", steps_);
    out_.line("%first = add i64 %above, %inside");
    out_.line("%rows = getelementptr float, ptr %x, i64 %first");
  }

  void emit_choice(size_t i) {
    const int rows = heights_[i];
    const std::string otherwise =
        i + 1 < heights_.size() ? fmt::format("try.{}", heights_[i + 1]) : "done";
    out_.label(fmt::format("try.{}", rows));
    out_.line("%fits.{0} = icmp sge i64 %left, {0}", rows);
    out_.line("br i1 %fits.{0}, label %take.{0}, label %{1}", rows, otherwise);
    out_.label(fmt::format("take.{}", rows));
    out_.line("call void @{}.{}(ptr %args, ptr %rows, i64 %height, ptr %w, i64 %row, i64 %column)",
              name_, rows);
    out_.line("%row.{0} = add i64 %row, {0}", rows);
    out_.line("br label %next");
  }

  template <typename Body>
  void for_each_sum(int rows, int streams, Body&& body) {
    for (int row = 0; row < rows; ++row) {
      for (int v = 0; v < vectors_; ++v) {
        for (int stream = 0; stream < streams; ++stream) body(sum_name(row, v, stream));
      }
    }
  }

  std::string name_;
  const GemmCode& code_;
  const GemmTile& tile_;
  const Target& target_;
  int64_t steps_;  // along k
  int vectors_;    // per row of the panel
  bool may_pass_end_;
  std::vector<int> heights_;
  IrWriter out_;
};

}  // namespace

std::string emit_gemm_vectors(const std::string& name, const GemmCode& code, const GemmTile& tile,
                              const Target& target) {
  return GemmVectors(name, code, tile, target).emit();
}

}  // namespace epi::compiler
