// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/gemm_panel.h"

#include <algorithm>

namespace epi::compiler {
namespace {

// Prefetch distance of a stream.
constexpr int64_t kAheadBytes = 2048;

// The number of steps is divided evenly among the passes.
int64_t steps_per_pass(const GemmPanel::Step& step, int64_t l1_bytes) {
  const int64_t bytes = step.unpacked_bytes > 0 ? step.unpacked_bytes : step.panel_bytes;
  const int64_t fitting = std::max<int64_t>(l1_bytes / 2 / bytes, 1);
  const int64_t passes = (step.count + fitting - 1) / fitting;
  return (step.count + passes - 1) / passes;
}

}  // namespace

GemmPanel::GemmPanel(std::string name, const GemmCode& code, const GemmTile& tile,
                     const Target& target, const Step& step)
    : name_(std::move(name)),
      gemms_(code.gemms),
      tile_(tile),
      step_(step),
      vector_(fmt::format("<{} x float>", target.lanes)),
      vector_bytes_(4 * target.lanes),
      pass_steps_(steps_per_pass(step, target.l1_bytes)),
      heights_{tile.rows} {
  for (const int rows : {8, 4, 2, 1}) {
    if (rows < tile.rows && rows % step.rows == 0) heights_.push_back(rows);
  }
}

void GemmPanel::begin_tile(IrWriter& out, int height) const {
  out.begin_function("internal ", fmt::format("{}.{}", name_, height),
                     fmt::format("ptr %args, ptr %x, i64 %height, ptr %panel, i64 %row, i64 "
                                 "%column, i64 %rows{}",
                                 has_passes(height) ? ", ptr %sums, i64 %first, i64 %last" : ""));
}

void GemmPanel::begin_unpack(IrWriter& out) const {
  out.begin_function("internal ", name_ + ".unpack", "ptr %panel, ptr %to, i64 %first, i64 %last");
}

void GemmPanel::begin_loop(IrWriter& out, int height, const std::vector<std::string>& sums) const {
  if (has_passes(height)) {
    out.line("%from.zero = icmp eq i64 %first, 0");
    out.line("br i1 %from.zero, label %multiply, label %resume");
    out.label("resume");
    for (size_t i = 0; i < sums.size(); ++i) {
      const IrValue at = out.let("getelementptr i8, ptr %sums, i64 {}", i * vector_bytes_);
      out.line("%old{} = load {}, ptr {}, align 4", sums[i], vector_, at);
    }
  }
  out.line("br label %multiply");
  out.label("multiply");
  out.line("%k = phi i64 [ 0, %entry ], {}[ %k.next, %multiply ]",
           has_passes(height) ? "[ %first, %resume ], " : "");
  for (const std::string& sum : sums) {
    const std::string old =
        has_passes(height) ? fmt::format("[ %old{}, %resume ], ", sum) : std::string();
    out.line("%sum{0} = phi {1} [ zeroinitializer, %entry ], {2}[ %new{0}, %multiply ]", sum,
             vector_, old);
  }
}

void GemmPanel::end_loop(IrWriter& out, int height, const std::vector<std::string>& sums,
                         int streams, int steps) const {
  const bool passes = has_passes(height);
  out.line("%k.next = add i64 %k, {}", steps);
  out.line("%more = icmp slt i64 %k.next, {}",
           passes ? "%last" : fmt::format("{}", step_.count / streams));
  out.line("br i1 %more, label %multiply, label %{}", passes ? "pass" : "finish");
  if (passes) {
    out.label("pass");
    out.line("%complete = icmp eq i64 %last, {}", step_.count);
    out.line("br i1 %complete, label %finish, label %keep");
    out.label("keep");
    for (size_t i = 0; i < sums.size(); ++i) {
      const IrValue at = out.let("getelementptr i8, ptr %sums, i64 {}", i * vector_bytes_);
      out.line("store {} %new{}, ptr {}, align 4", vector_, sums[i], at);
    }
    out.line("ret void");
  }
  out.label("finish");
}

IrValue GemmPanel::emit_total(IrWriter& out, const std::string& sum, int streams) const {
  IrValue total = fmt::format("%new{}.0", sum);
  for (int stream = 1; stream < streams; ++stream) {
    total = out.let("fadd {} {}, %new{}.{}", vector_, total, sum, stream);
  }
  return total;
}

void GemmPanel::emit_prefetch(IrWriter& out, const IrValue& line, int64_t bytes,
                              int streams) const {
  const int64_t stream_steps = step_.count / streams;
  const int64_t skipped_steps = step_.count - stream_steps;
  const int64_t ahead_steps = std::clamp<int64_t>(kAheadBytes / step_.panel_bytes, 1, stream_steps);
  const IrValue later = out.let("add i64 %k, {}", ahead_steps);
  const IrValue ends = out.let("icmp sge i64 {}, {}", later, stream_steps);
  const IrValue ahead =
      out.let("select i1 {}, i64 {}, i64 {}", ends,
              (ahead_steps + skipped_steps) * step_.panel_bytes, ahead_steps * step_.panel_bytes);
  const IrValue first = out.let("getelementptr i8, ptr {}, i64 {}", line, ahead);
  out.prefetch(first, bytes, 2);
}

void GemmPanel::emit(IrWriter& out, std::string_view operators) const {
  out.comment(fmt::format("{}: loop over the rows of a panel of {} columns, tallest tiles first",
                          operators, tile_.columns));
  out.begin_function("", name_, "ptr %args, i64 %row_begin, i64 %row_end, i64 %panel");
  out.line("%x = load ptr, ptr %args, align 8");
  out.line("%weights.at = getelementptr ptr, ptr %args, i64 1");
  out.line("%weights = load ptr, ptr %weights.at, align 8");
  out.line("%skipped = mul i64 %panel, {}", step_.panel_bytes * step_.count);
  out.line("%w = getelementptr i8, ptr %weights, i64 %skipped");
  out.line("%column = mul i64 %panel, {}", tile_.columns);
  out.line("%all = sub i64 %row_end, %row_begin");
  out.line("%below = urem i64 %all, {}", tile_.rows);
  out.line("%full = sub i64 %all, %below");
  out.line("%row_lower = add i64 %row_begin, %full");
  emit_full_tiles(out);
  emit_lower_tiles(out);
  out.end_function();
}

void GemmPanel::emit_full_tiles(IrWriter& out) const {
  const bool passes = has_passes(tile_.rows);
  const int64_t sums_of_row = int64_t{tile_.columns} * gemms_;
  if (passes) {
    out.line("%buffer.size = mul i64 %full, {}", sums_of_row);
    out.line("%buffer = alloca float, i64 %buffer.size, align 16");
  }
  const bool unpacks = is_unpacked(tile_.rows);
  if (unpacks) {
    out.line("%unpacked = alloca [{} x i8], align 64", pass_steps_ * step_.unpacked_bytes);
  }
  out.line("%any = icmp sgt i64 %full, 0");
  const bool has_registers = !step_.tile_registers.empty();
  out.line("br i1 %any, label %{}, label %lower", has_registers ? "start" : "pass");
  if (has_registers) {
    out.label("start");
    emit_tile_sizes(out, step_.tile_registers);
    out.line("br label %pass");
  }
  out.label("pass");
  if (passes) {
    out.line("%first = phi i64 [ 0, %{} ], [ %last, %pass.end ]",
             has_registers ? "start" : "entry");
    out.line("%later = add i64 %first, {}", pass_steps_);
    out.line("%last = call i64 @llvm.umin.i64(i64 %later, i64 {})", step_.count);
  }
  if (unpacks) {
    out.line("call void @{}.unpack(ptr %w, ptr %unpacked, i64 {}, i64 {})", name_,
             passes ? "%first" : "0", passes ? "%last" : fmt::to_string(step_.count));
    out.line("%skipped.w = mul i64 {}, {}", passes ? "%first" : "0", -step_.unpacked_bytes);
    out.line("%tile.w = getelementptr i8, ptr %unpacked, i64 %skipped.w");
  }
  out.line("br label %tile");
  out.label("tile");
  out.line("%row = phi i64 [ %row_begin, %pass ], [ %row.next, %tile ]");
  out.line("%skipped.x = mul i64 %row, {}", step_.count * step_.row_bytes);
  out.line("%tile.x = getelementptr i8, ptr %x, i64 %skipped.x");
  std::string pass_arguments;
  if (passes) {
    out.line("%above = sub i64 %row, %row_begin");
    out.line("%above.sums = mul i64 %above, {}", sums_of_row);
    out.line("%sums = getelementptr float, ptr %buffer, i64 %above.sums");
    pass_arguments = ", ptr %sums, i64 %first, i64 %last";
  }
  out.line(
      "call void @{0}.{1}(ptr %args, ptr %tile.x, i64 {1}, ptr {2}, i64 %row, i64 %column, "
      "i64 {1}{3})",
      name_, tile_.rows, unpacks ? "%tile.w" : "%w", pass_arguments);
  out.line("%row.next = add i64 %row, {}", tile_.rows);
  out.line("%more = icmp slt i64 %row.next, %row_lower");
  const char* end = has_registers ? "release" : "lower";
  out.line("br i1 %more, label %tile, label %{}", passes ? "pass.end" : end);
  if (passes) {
    out.label("pass.end");
    out.line("%again = icmp slt i64 %last, {}", step_.count);
    out.line("br i1 %again, label %pass, label %{}", end);
  }
  if (has_registers) {
    out.label("release");
    emit_tile_release(out);
    out.line("br label %lower");
  }
}

// The rows below the last full tile are packed together.
void GemmPanel::emit_lower_tiles(IrWriter& out) const {
  out.label("lower");
  if (heights_.size() == 1) return;
  out.line("%padded = add i64 %below, {}", step_.rows - 1);
  out.line("%over = urem i64 %padded, {}", step_.rows);
  out.line("%height = sub i64 %padded, %over");
  out.line("%skipped.full = mul i64 %row_lower, {}", step_.count * step_.row_bytes);
  out.line("%lower.x = getelementptr i8, ptr %x, i64 %skipped.full");
  out.line("br label %next");
  out.label("next");
  std::string sources = "[ 0, %lower ]";
  for (size_t i = 1; i < heights_.size(); ++i) {
    sources += fmt::format(", [ %taken.{0}, %take.{0} ]", heights_[i]);
  }
  out.line("%taken = phi i64 {}", sources);
  out.line("%left = sub i64 %below, %taken");
  out.line("%at = add i64 %row_lower, %taken");
  out.line("%skipped.lower = mul i64 %taken, {}", step_.row_bytes);
  out.line("%at.x = getelementptr i8, ptr %lower.x, i64 %skipped.lower");
  out.line("br label %try.{}", heights_[1]);
  for (size_t i = 1; i < heights_.size(); ++i) {
    const int height = heights_[i];
    const std::string otherwise =
        i + 1 < heights_.size() ? fmt::format("try.{}", heights_[i + 1]) : "done";
    out.label(fmt::format("try.{}", height));
    out.line("%fits.{} = icmp sgt i64 %left, {}", height, height - step_.rows);
    out.line("br i1 %fits.{0}, label %take.{0}, label %{1}", height, otherwise);
    out.label(fmt::format("take.{}", height));
    out.line(
        "call void @{}.{}(ptr %args, ptr %at.x, i64 %height, ptr %w, i64 %at, i64 %column, "
        "i64 %left)",
        name_, height);
    out.line("%taken.{0} = add i64 %taken, {0}", height);
    out.line("br label %next");
  }
  out.label("done");
}

}  // namespace epi::compiler
