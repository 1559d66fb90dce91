// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/tile_config.h"

namespace epi::compiler {
namespace {

// Byte offsets within the 64 bytes of palette 1.
constexpr int kColumnBytes = 16;  // two bytes per register
constexpr int kRows = 48;         // one byte per register

void emit_rows(IrWriter& out, int tile, std::string_view rows) {
  const IrValue at = out.let("getelementptr i8, ptr %config, i64 {}", kRows + tile);
  out.line("store i8 {}, ptr {}, align 1", rows, at);
}

void emit_row_bytes(IrWriter& out, int tile, int bytes) {
  const IrValue at = out.let("getelementptr i8, ptr %config, i64 {}", kColumnBytes + 2 * tile);
  out.line("store i16 {}, ptr {}, align 1", bytes, at);
}

void emit_empty_config(IrWriter& out) {
  out.line("%config = alloca [64 x i8], align 64");
  out.line("store <64 x i8> zeroinitializer, ptr %config, align 64");
  out.line("store i8 1, ptr %config, align 1");  // the palette
}

}  // namespace

void emit_tile_sizes(IrWriter& out, std::span<const TileSize> sizes) {
  emit_empty_config(out);
  for (int tile = 0; tile < std::ssize(sizes); ++tile) {
    const TileSize& size = sizes[static_cast<size_t>(tile)];
    emit_row_bytes(out, tile, size.row_bytes);
    emit_rows(out, tile, fmt::to_string(size.rows));
  }
  out.line("call void @llvm.x86.ldtilecfg(ptr %config)");
}

void emit_tile_release(IrWriter& out) { out.line("call void @llvm.x86.tilerelease()"); }

void emit_tile_config(IrWriter& out) {
  emit_empty_config(out);
  for (int tile = 0; tile < 8; ++tile) emit_row_bytes(out, tile, 64);
  for (const int tile : {6, 7}) emit_rows(out, tile, "16");
}

void emit_tile_rows(IrWriter& out, std::string_view upper, std::string_view lower) {
  for (const int tile : {0, 1, 4}) emit_rows(out, tile, upper);
  for (const int tile : {2, 3, 5}) emit_rows(out, tile, lower);
  out.line("call void @llvm.x86.ldtilecfg(ptr %config)");
}

}  // namespace epi::compiler
