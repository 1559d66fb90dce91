// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/text/text.h"

#include <algorithm>
#include <string_view>

#include "epilogue/base/visible_text.h"

namespace epi::report {
namespace {

bool is_unit(std::string word) {
  while (!word.empty() && std::string_view(",;:.()").find(word.back()) != std::string_view::npos) {
    word.pop_back();
  }
  if (word.ends_with("/s")) word.resize(word.size() - 2);
  static constexpr std::string_view kUnits[] = {"ns",   "us",    "ms",    "s",   "B",     "kB",
                                                "MB",   "GB",    "TB",    "%",   "kFLOP", "MFLOP",
                                                "FLOP", "GFLOP", "TFLOP", "rows"};
  return std::find(std::begin(kUnits), std::end(kUnits), word) != std::end(kUnits);
}

}  // namespace

std::string wrapped(const std::string& given, size_t width) {
  const std::string text = visible_text(given, LineBreaks::kReplace);
  std::string out;
  size_t column = 0;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(' ', begin), text.size());
    const size_t next = std::min(text.find(' ', end + 1), text.size());
    if (end < text.size() && is_unit(text.substr(end + 1, next - end - 1))) end = next;
    const size_t size = end - begin;
    if (column > 0 && column + 1 + size > width) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out.append(text, begin, size);
    column += size;
    begin = end + 1;
  }
  return out;
}

std::string indented(const std::string& text, size_t spaces, size_t width) {
  const std::string margin(spaces, ' ');
  std::string out = margin + wrapped(text, width - std::min(width - 1, spaces));
  for (size_t at = out.find('\n'); at != std::string::npos; at = out.find('\n', at + 1)) {
    out.insert(at + 1, margin);
  }
  return out;
}

std::string hard_wrapped(const std::string& given, size_t indent, size_t width) {
  const std::string text = visible_text(given, LineBreaks::kReplace);
  const size_t room = width > indent + 10 ? width - indent : 10;
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = utf8_prefix(rest, room);
    if (!out.empty()) out += '\n' + std::string(indent, ' ');
    out += line;
    rest.remove_prefix(line.size());
  }
  return out;
}

std::string_view utf8_prefix(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

std::string shortened(const std::string& text, size_t width) {
  std::string line = visible_text(text, LineBreaks::kReplace);
  if (line.size() <= width) return line;
  return std::string(utf8_prefix(line, width - 3)) + "...";
}

std::string shortened_middle(const std::string& text, size_t width) {
  std::string line = visible_text(text, LineBreaks::kReplace);
  if (line.size() <= width) return line;
  const size_t tail = (width - 3) / 2;
  const std::string head(utf8_prefix(line, width - 3 - tail));
  // The tail starts at a whole character.
  size_t start = line.size() - tail;
  while (start < line.size() && (static_cast<unsigned char>(line[start]) & 0xC0) == 0x80) ++start;
  return head + "..." + line.substr(start);
}

std::string shell_word(const std::string& word) {
  const bool plain = word.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_./:=+-@%") == std::string::npos;
  if (plain && !word.empty()) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace epi::report
