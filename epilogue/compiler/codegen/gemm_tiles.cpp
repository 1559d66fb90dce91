// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/gemm_tiles.h"

#include <algorithm>
#include <cstddef>

#include "epilogue/compiler/codegen/gemm_epilogue.h"
#include "epilogue/compiler/codegen/tile_config.h"

namespace epi::compiler {
namespace {

constexpr int64_t kLineBytes = 64;
constexpr int64_t kAheadBytes = 16384;  // prefetch distance of a stream
// A flat tile reads the weights in at most this many streams. `epilogue_bench
// --benchmark_filter=compile/gemv_bf16_8192` compares its time with that of reading the weights.
constexpr int kMaxStreams = 4;
constexpr int64_t kAheadSteps = 2;    // prefetch distance of a stream
constexpr int kHalf = 16;             // rows of one tile register
constexpr int64_t kTileBytes = 1024;  // of one tile register

class GemmTiles {
 public:
  GemmTiles(std::string name, const GemmCode& code, const Target& target)
      : name_(std::move(name)), code_(code), target_(target), steps_(tile_steps(code)) {}

  std::string emit() {
    emit_epilogue_row();
    emit_prefetch_row();
    emit_tile(2);
    emit_tile(1);
    emit_flat_tile();
    emit_block();
    return out_.text();
  }

 private:
  std::string columns_text() const { return fmt::to_string(kTileColumns / code_.gemms); }

  // Applies the program to one row of a tile of sums.
  void emit_epilogue_row() {
    out_.comment(fmt::format("{}: the epilogue of {} columns of one row", operators_of(code_),
                             columns_text()));
    out_.begin_function("internal ", name_ + ".row", "ptr %args, ptr %sums, i64 %row, i64 %column");
    emit_addresses(out_, code_);
    VectorCode vector(out_, target_, target_.lanes);
    const int columns = kTileColumns / code_.gemms;
    for (int column = 0; column < columns; column += target_.lanes) {
      std::vector<IrValue> values;
      for (int gemm = 0; gemm < code_.gemms; ++gemm) {
        values.push_back(vector.load(DType::kF32, out_.let("getelementptr float, ptr %sums, i64 {}",
                                                           gemm * columns + column)));
      }
      const IrValue at_column = out_.let("add i64 %column, {}", column);
      emit_epilogue(out_, code_, target_, values, "%row", at_column, code_.n % columns != 0);
    }
    out_.end_function();
  }

  // Prefetches the cache lines of the results of one row, which are written while the next tile is
  // multiplied. The CPU does not do it by itself, because each row is in another page.
  void emit_prefetch_row() {
    out_.comment(fmt::format("{}: prefetches the results of {} columns of one row",
                             operators_of(code_), columns_text()));
    out_.begin_function("internal ", name_ + ".prefetch", "ptr %args, i64 %row, i64 %column");
    emit_addresses(out_, code_);
    emit_prefetch_results(out_, code_, "%row", "%column", kTileColumns / code_.gemms);
    out_.end_function();
  }

  // Multiplies one or two registers of rows of x by a panel for %steps steps of k. Meanwhile, it
  // applies the epilogue to rows of the previous tile, and prefetches its own results. The sums
  // start with those at %resumed, or at zero if that is null, and are stored to %sums. Every step
  // prefetches %ahead.bytes from %ahead on into the L2 cache.
  void emit_tile(int halves) {
    out_.comment(
        fmt::format("{}: an AMX tile of {} rows by {} columns, and the epilogue of the "
                    "previous one",
                    operators_of(code_), halves * kHalf, columns_text()));
    out_.begin_function("internal ", fmt::format("{}.{}", name_, halves * kHalf),
                        "ptr %args, ptr %x, ptr %panel, i64 %steps, ptr %resumed, ptr %sums, "
                        "ptr %old, i64 %old.rows, i64 %old.row, i64 %old.column, i64 %row, "
                        "i64 %column, ptr %ahead, i64 %ahead.bytes");
    emit_first_sums(halves);
    emit_multiply(halves);
    for (int tile = 0; tile < 2 * halves; ++tile) {
      out_.line("call void @llvm.x86.tilestored64(i8 {}, ptr {}, i64 {})", tile,
                place_of(tile, "%sums"), kTileColumns * 4);
    }
    out_.end_function();
  }

  IrValue place_of(int tile, std::string_view sums) {
    const int64_t place = (tile / 2) * kHalf * kTileColumns + (tile % 2) * kHalf;
    return out_.let("getelementptr float, ptr {}, i64 {}", sums, place);
  }

  void emit_first_sums(int halves) {
    // Every step finishes as many rows as bring the epilogue to its end with the last step.
    out_.line("%rounded = add i64 %old.rows, %steps");
    out_.line("%rounded.less = sub i64 %rounded, 1");
    out_.line("%rows.per.step = udiv i64 %rounded.less, %steps");
    out_.line("%starts = icmp eq ptr %resumed, null");
    out_.line("br i1 %starts, label %start, label %resume");
    out_.label("start");
    for (int tile = 0; tile < 2 * halves; ++tile) {
      out_.line("call void @llvm.x86.tilezero(i8 {})", tile);
    }
    out_.line("br label %multiply");
    out_.label("resume");
    for (int tile = 0; tile < 2 * halves; ++tile) {
      out_.line("call void @llvm.x86.tileloadd64(i8 {}, ptr {}, i64 {})", tile,
                place_of(tile, "%resumed"), kTileColumns * 4);
    }
    out_.line("br label %multiply");
  }

  void emit_multiply(int halves) {
    out_.label("multiply");
    out_.line("%step = phi i64 [ 0, %start ], [ 0, %resume ], [ %step.next, %after ]");
    out_.line("%done = phi i64 [ 0, %start ], [ 0, %resume ], [ %done.next, %after ]");
    out_.line("%skipped = mul i64 %step, {}", kTileStepBytes);
    out_.line("%x0 = getelementptr i8, ptr %x, i64 %skipped");
    out_.line("%w0 = getelementptr i8, ptr %panel, i64 %skipped");
    out_.line("%w1 = getelementptr i8, ptr %w0, i64 {}", kTileBytes);
    out_.line("call void @llvm.x86.tileloadd64(i8 4, ptr %x0, i64 64)");
    for (int tile = 0; tile < 2; ++tile) {
      out_.line("call void @llvm.x86.tileloadd64(i8 {0}, ptr %w{1}, i64 64)", 6 + tile, tile);
      out_.line("call void @llvm.x86.tdpbf16ps(i8 {0}, i8 4, i8 {1})", tile, 6 + tile);
    }
    if (halves == 2) {
      out_.line("%x1 = getelementptr i8, ptr %x0, i64 {}", kTileBytes);
      out_.line("call void @llvm.x86.tileloadd64(i8 5, ptr %x1, i64 64)");
      out_.line("call void @llvm.x86.tdpbf16ps(i8 2, i8 5, i8 6)");
      out_.line("call void @llvm.x86.tdpbf16ps(i8 3, i8 5, i8 7)");
    }
    out_.line("%step.next = add i64 %step, 1");
    out_.line("%planned = mul i64 %step.next, %rows.per.step");
    out_.line("%until = call i64 @llvm.umin.i64(i64 %planned, i64 %old.rows)");
    out_.line("%ahead.skipped = mul i64 %step, %ahead.bytes");
    out_.line("br label %prefetch");
    out_.label("prefetch");
    out_.line("%fetched = phi i64 [ 0, %multiply ], [ %fetched.next, %fetch ]");
    out_.line("%fetches = icmp slt i64 %fetched, %ahead.bytes");
    out_.line("br i1 %fetches, label %fetch, label %each");
    out_.label("fetch");
    out_.line("%line = add i64 %ahead.skipped, %fetched");
    out_.line("%line.at = getelementptr i8, ptr %ahead, i64 %line");
    out_.line("call void @llvm.prefetch.p0(ptr %line.at, i32 0, i32 2, i32 1)");
    out_.line("%fetched.next = add i64 %fetched, {}", kLineBytes);
    out_.line("br label %prefetch");
    emit_epilogue_rows("prefetch", "%done", {"%until", "%old.row", "%old.column", true});
    out_.label("after");
    out_.line("%more = icmp slt i64 %step.next, %steps");
    out_.line("br i1 %more, label %multiply, label %finish");
    out_.label("finish");
  }

  // A flat tile reads its panel at several positions at once, as in gemm_vectors.cpp.
  int64_t streams() const {
    int64_t streams = kMaxStreams;
    while (steps_ % streams != 0) streams /= 2;
    return streams;
  }

  // Multiplies the only tile of a block, of %rows <= 16 rows, by a panel, and applies the epilogue.
  void emit_flat_tile() {
    out_.comment(fmt::format("{}: an AMX tile of up to {} rows by {} columns, for all of k",
                             operators_of(code_), kHalf, columns_text()));
    out_.begin_function("internal ", name_ + ".flat",
                        "ptr %args, ptr %x, ptr %panel, i64 %rows, i64 %row, i64 %column");
    out_.line("%sums = alloca [{} x i8], align 64", kTileSumsBytes / 2);
    for (int tile = 0; tile < 2; ++tile) out_.line("call void @llvm.x86.tilezero(i8 {})", tile);
    out_.line("br label %multiply");
    out_.label("multiply");
    out_.line("%step = phi i64 [ 0, %entry ], [ %step.next, %multiply ]");
    const int64_t stream_steps = steps_ / streams();
    for (int64_t stream = 0; stream < streams(); ++stream) {
      emit_stream_step(out_.let("add i64 %step, {}", stream * stream_steps));
    }
    out_.line("%step.next = add i64 %step, 1");
    out_.line("%more = icmp slt i64 %step.next, {}", stream_steps);
    out_.line("br i1 %more, label %multiply, label %finish");
    out_.label("finish");
    for (int tile = 0; tile < 2; ++tile) {
      out_.line("call void @llvm.x86.tilestored64(i8 {}, ptr {}, i64 {})", tile,
                place_of(tile, "%sums"), kTileColumns * 4);
    }
    out_.line("br label %each");
    out_.label("each");
    out_.line("%done = phi i64 [ 0, %finish ], [ %done.next, %each ]");
    out_.line("%at.row = add i64 %row, %done");
    out_.line("%skipped = mul i64 %done, {}", kTileColumns * 4);
    out_.line("%row.sums = getelementptr i8, ptr %sums, i64 %skipped");
    out_.line("call void @{}.row(ptr %args, ptr %row.sums, i64 %at.row, i64 %column)", name_);
    out_.line("%done.next = add i64 %done, 1");
    out_.line("%is.left = icmp slt i64 %done.next, %rows");
    out_.line("br i1 %is.left, label %each, label %end");
    out_.label("end");
    out_.end_function();
  }

  // A step of one stream. At its end, it prefetches from the next panel.
  void emit_stream_step(const IrValue& step) {
    const int64_t stream_steps = steps_ / streams();
    const int64_t ahead_steps = std::min(kAheadSteps, stream_steps);
    const IrValue skipped = out_.let("mul i64 {}, {}", step, kTileStepBytes);
    const IrValue w = out_.let("getelementptr i8, ptr %panel, i64 {}", skipped);
    const IrValue ends = out_.let("icmp sge i64 %step, {}", stream_steps - ahead_steps);
    const IrValue distance = out_.let("select i1 {}, i64 {}, i64 {}", ends,
                                      (ahead_steps + steps_ - stream_steps) * kTileStepBytes,
                                      ahead_steps * kTileStepBytes);
    const IrValue ahead = out_.let("getelementptr i8, ptr {}, i64 {}", w, distance);
    out_.prefetch(ahead, kTileStepBytes, 2);
    const IrValue x = out_.let("getelementptr i8, ptr %x, i64 {}", skipped);
    out_.line("call void @llvm.x86.tileloadd64(i8 4, ptr {}, i64 64)", x);
    for (int tile = 0; tile < 2; ++tile) {
      const IrValue at = out_.let("getelementptr i8, ptr {}, i64 {}", w, tile * kTileBytes);
      out_.line("call void @llvm.x86.tileloadd64(i8 {}, ptr {}, i64 64)", 6 + tile, at);
      out_.line("call void @llvm.x86.tdpbf16ps(i8 {}, i8 4, i8 {})", tile, 6 + tile);
    }
  }

  // Rows of the sums at %old.
  struct OldRows {
    std::string_view until;
    std::string_view row;  // in the output, of the first one
    std::string_view column;
    bool prefetches = false;  // also prefetches as many rows of the tile at %row and %column
  };
  // The blocks `each`, entered from `previous`, and `apply`, for the rows from `first` on. They
  // leave to `after` with the number of finished rows as %done.next.
  void emit_epilogue_rows(std::string_view previous, std::string_view first, const OldRows& rows) {
    out_.label("each");
    out_.line("%done.next = phi i64 [ {}, %{} ], [ %applied, %apply ]", first, previous);
    out_.line("%is.left = icmp slt i64 %done.next, {}", rows.until);
    out_.line("br i1 %is.left, label %apply, label %after");
    out_.label("apply");
    out_.line("%old.skipped = mul i64 %done.next, {}", kTileColumns * 4);
    out_.line("%old.at = getelementptr i8, ptr %old, i64 %old.skipped");
    out_.line("%at.row = add i64 {}, %done.next", rows.row);
    out_.line("call void @{}.row(ptr %args, ptr %old.at, i64 %at.row, i64 {})", name_, rows.column);
    if (rows.prefetches) {
      out_.line("%new.row = add i64 %row, %done.next");
      out_.line("call void @{}.prefetch(ptr %args, i64 %new.row, i64 %column)", name_);
    }
    out_.line("%applied = add i64 %done.next, 1");
    out_.line("br label %each");
  }

  // A field of the TilesBlock.
  void load_field(std::string_view name, size_t offset, std::string_view type = "i64") {
    out_.line("%{}.at = getelementptr i8, ptr %block, i64 {}", name, offset);
    out_.line("%{0} = load {1}, ptr %{0}.at, align 8", name, type);
  }

  void emit_block() {
    out_.comment(fmt::format("{}: loop over the tiles of a block", operators_of(code_)));
    out_.begin_function("", name_, "ptr %args, ptr %block");
    emit_block_start();
    out_.label("next");
    out_.line("%tile = phi i64 [ 0, %entry ], [ %tile.next, %tile.end ]");
    for (const char* value : {"configured", "old.rows", "old.row", "old.column"}) {
      out_.line("%{0} = phi i64 [ 0, %entry ], [ %{0}.next, %tile.end ]", value);
    }
    emit_tile_place();
    out_.line("%is.configured = icmp eq i64 %height, %configured");
    out_.line("br i1 %is.configured, label %multiply, label %configure");
    out_.label("configure");
    out_.line("%upper = call i64 @llvm.umin.i64(i64 %height, i64 {})", kHalf);
    out_.line("%below = sub i64 %height, %upper");
    out_.line("%lower = call i64 @llvm.umax.i64(i64 %below, i64 1)");  // zero is not allowed
    out_.line("%upper.byte = trunc i64 %upper to i8");
    out_.line("%lower.byte = trunc i64 %lower to i8");
    emit_tile_rows(out_, "%upper.byte", "%lower.byte");
    out_.line("br label %multiply");
    out_.label("multiply");
    emit_tile_call();
    out_.label("tile.end");
    out_.line("%configured.next = add i64 %height, 0");
    // The epilogue of a flat tile has been applied.
    out_.line("%is.tall = xor i1 %is.flat, true");
    out_.line("%is.pending = and i1 %finishes, %is.tall");
    out_.line("%old.rows.next = select i1 %is.pending, i64 %height, i64 0");
    out_.line("%old.row.next = add i64 %row, 0");
    out_.line("%old.column.next = add i64 %column, 0");
    out_.line("%tile.next = add i64 %tile, 1");
    out_.line("%more.tiles = icmp slt i64 %tile.next, %count");
    out_.line("br i1 %more.tiles, label %next, label %last");
    // No tile follows that could hide the epilogue of the last one.
    out_.label("last");
    emit_tile_release(out_);
    out_.line("br label %each");
    emit_epilogue_rows("last", "0", {"%old.rows.next", "%old.row.next", "%old.column.next"});
    out_.label("after");
    out_.end_function();
  }

  void emit_block_start() {
    out_.line("%x = load ptr, ptr %args, align 8");
    out_.line("%weights.at = getelementptr ptr, ptr %args, i64 1");
    out_.line("%weights = load ptr, ptr %weights.at, align 8");
    load_field("row_begin", offsetof(TilesBlock, row_begin));
    load_field("row_end", offsetof(TilesBlock, row_end));
    load_field("panel_begin", offsetof(TilesBlock, panel_begin));
    load_field("panel_end", offsetof(TilesBlock, panel_end));
    load_field("step_begin", offsetof(TilesBlock, step_begin));
    load_field("step_end", offsetof(TilesBlock, step_end));
    load_field("rows_inside", offsetof(TilesBlock, rows_inside));
    load_field("kept", offsetof(TilesBlock, sums), "ptr");
    out_.line("%all.rows = sub i64 %row_end, %row_begin");
    out_.line("%padded.rows = add i64 %all.rows, {}", kTileRows - 1);
    out_.line("%tiles = udiv i64 %padded.rows, {}", kTileRows);
    out_.line("%panels = sub i64 %panel_end, %panel_begin");
    out_.line("%count = mul i64 %tiles, %panels");
    out_.line("%is.rows.inside = icmp ne i64 %rows_inside, 0");
    out_.line("%inner = select i1 %is.rows.inside, i64 %tiles, i64 %panels");
    out_.line("%lines = udiv i64 {}, %tiles", kTileStepBytes / kLineBytes);
    out_.line("%part.bytes = mul i64 %lines, {}", kLineBytes);
    out_.line("%is.one.tile = icmp eq i64 %tiles, 1");
    out_.line("%ahead.distance = select i1 %is.one.tile, i64 {}, i64 {}", kAheadBytes,
              steps_ * kTileStepBytes);
    out_.line("%ahead.bytes = select i1 %is.rows.inside, i64 %part.bytes, i64 0");
    out_.line("%steps = sub i64 %step_end, %step_begin");
    out_.line("%steps.skipped = mul i64 %step_begin, {}", kTileStepBytes);
    out_.line("%is.whole = icmp eq i64 %steps, {}", steps_);
    out_.line("%is.one.pass = and i1 %is.one.tile, %is.whole");
    out_.line("%resumes = icmp sgt i64 %step_begin, 0");
    out_.line("%finishes = icmp eq i64 %step_end, {}", steps_);
    // A tile stores its sums after the epilogue of the previous one has read those before.
    out_.line("%old = alloca [{} x i8], align 64", kTileSumsBytes);
    emit_tile_config(out_);
    out_.line("br label %next");
  }

  // The row and panel of a tile, and the addresses of its operands.
  void emit_tile_place() {
    out_.line("%outer.index = udiv i64 %tile, %inner");
    out_.line("%inner.index = urem i64 %tile, %inner");
    out_.line("%row.index = select i1 %is.rows.inside, i64 %inner.index, i64 %outer.index");
    out_.line("%panel.index = select i1 %is.rows.inside, i64 %outer.index, i64 %inner.index");
    out_.line("%row.skipped = mul i64 %row.index, {}", kTileRows);
    out_.line("%row = add i64 %row_begin, %row.skipped");
    out_.line("%panel = add i64 %panel_begin, %panel.index");
    out_.line("%column = mul i64 %panel, {}", columns_text());
    out_.line("%left = sub i64 %row_end, %row");
    out_.line("%height = call i64 @llvm.umin.i64(i64 %left, i64 {})", kTileRows);
    out_.line("%x.skipped = mul i64 %row, {}", steps_ * kTileStepBytes / kTileRows);
    out_.line("%x.row = getelementptr i8, ptr %x, i64 %x.skipped");
    out_.line("%x.at = getelementptr i8, ptr %x.row, i64 %steps.skipped");
    out_.line("%panel.skipped = mul i64 %panel, {}", steps_ * kTileStepBytes);
    out_.line("%w.panel = getelementptr i8, ptr %weights, i64 %panel.skipped");
    out_.line("%w = getelementptr i8, ptr %w.panel, i64 %steps.skipped");
    // While the rows of x stay in the cache, each of their tiles fetches a part of the next panel,
    // and a single one what it reads soon.
    out_.line("%ahead.part = mul i64 %ahead.bytes, {}", steps_);
    out_.line("%ahead.skipped = mul i64 %row.index, %ahead.part");
    out_.line("%ahead.panel = getelementptr i8, ptr %w, i64 %ahead.distance");
    out_.line("%ahead = getelementptr i8, ptr %ahead.panel, i64 %ahead.skipped");
    out_.line("%slot.skipped = mul i64 %tile, {}", kTileSumsBytes);
    out_.line("%slot = getelementptr i8, ptr %kept, i64 %slot.skipped");
    out_.line("%resumed = select i1 %resumes, ptr %slot, ptr null");
    out_.line("%sums = select i1 %finishes, ptr %old, ptr %slot");
  }

  void emit_tile_call() {
    out_.line("%is.low = icmp sle i64 %height, {}", kHalf);
    out_.line("%is.flat = select i1 %is.low, i1 %is.one.pass, i1 false");
    out_.line("br i1 %is.flat, label %tile.flat, label %tile.tall");
    out_.label("tile.flat");
    out_.line(
        "call void @{}.flat(ptr %args, ptr %x.at, ptr %w, i64 %height, i64 %row, i64 %column)",
        name_);
    out_.line("br label %tile.end");
    out_.label("tile.tall");
    out_.line("%two = icmp sgt i64 %height, {}", kHalf);
    out_.line("br i1 %two, label %tile.two, label %tile.one");
    for (const int halves : {2, 1}) {
      out_.label(halves == 2 ? "tile.two" : "tile.one");
      out_.line(
          "call void @{}.{}(ptr %args, ptr %x.at, ptr %w, i64 %steps, ptr %resumed, ptr %sums, "
          "ptr %old, i64 %old.rows, i64 %old.row, i64 %old.column, i64 %row, "
          "i64 %column, ptr %ahead, i64 %ahead.bytes)",
          name_, halves * kHalf);
      out_.line("br label %tile.end");
    }
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
