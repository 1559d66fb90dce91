// SPDX-License-Identifier: Apache-2.0
// Formats a decoded kernel name as one line, for tables of names and expected decodings.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/names/decode.h"
#include "epilogue/analysis/names/decoded_name.h"

namespace epi::analysis {

struct Row {
  const char* name;
  const char* expected;
};

inline void add(std::string& text, std::string_view piece, std::string_view label = "") {
  if (piece.empty()) return;
  if (!text.empty()) text += ' ';
  text.append(label).append(piece);
}

inline void add(std::string& text, int value, std::string_view label) {
  if (value != 0) add(text, std::to_string(value), label);
}

inline void add(std::string& text, std::optional<bool> value, std::string_view label) {
  if (value) add(text, label, *value ? "+" : "-");
}

inline std::string or_unknown(std::string_view piece) {
  return std::string(piece.empty() ? "?" : piece);
}

inline std::string types_of(const DecodedName& kernel) {
  const std::array types = {kernel.dtype, kernel.accumulate, kernel.output};
  if (types == std::array<NumberType, 3>{}) return {};
  return or_unknown(text_of(types[0])) + '>' + or_unknown(text_of(types[1])) + '>' +
         or_unknown(text_of(types[2]));
}

inline std::string sizes_of(std::span<const int> sizes) {
  std::string text;
  for (const int size : sizes) {
    if (size != 0) text.append(text.empty() ? "" : "x").append(std::to_string(size));
  }
  return text;
}

inline std::string list_of(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text.append(text.empty() ? "" : ",").append(item);
  return text;
}

// One line: library, kind, arch, input>accumulator>output, layout, tile and the rest. Unknown
// fields are omitted, or are "?" where later fields depend on the position.
inline std::string describe(const DecodedName& kernel) {
  std::string text = or_unknown(text_of(kernel.library));
  add(text, text_of(kernel.kind));
  add(text, kernel.arch);
  add(text, types_of(kernel));
  add(text, kernel.layout);
  add(text, sizes_of(kernel.tile));
  add(text, kernel.stages, "stages ");
  add(text, sizes_of(kernel.cluster), "cluster ");
  add(text, list_of(kernel.epilogue));
  add(text, kernel.split_k, "splitk");
  add(text, kernel.tensor_cores, "tc");
  add(text, kernel.alignment, "align ");
  add(text, kernel.vector_width, "by ");
  add(text, list_of(kernel.ops), "ops ");
  return text;
}

inline void expect_all(std::span<const Row> rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(describe(decode_name(row.name)), row.expected);
  }
}

}  // namespace epi::analysis
