// SPDX-License-Identifier: Apache-2.0
#include "bench/big_trace.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/base/error.h"
#include "epilogue/base/output_file.h"
#include "epilogue/trace/input_text.h"
#include "epilogue/trace/number_text.h"

namespace epi::bench {
namespace {

constexpr int64_t kStepNs = 1'000'000'000;  // longer than the trace
constexpr int64_t kStepId = 10'000'000;     // larger than any of its ids

// A piece of the text and the number that follows it, which grows by `step` with each repetition.
struct Piece {
  std::string_view text;
  int64_t number = 0;
  int64_t step = 0;
};

struct ShiftedKey {
  std::string_view key;
  bool is_time;
};
constexpr auto kKeys = std::to_array<ShiftedKey>({{"\"ts\": ", true},
                                                  {"\"External id\": ", false},
                                                  {"\"correlation\": ", false},
                                                  {"\"id\": ", false}});

std::vector<Piece> split_pieces(std::string_view text) {
  std::vector<Piece> pieces;
  size_t begin = 0;
  for (size_t at = text.find('"'); at != std::string_view::npos; at = text.find('"', at + 1)) {
    for (const ShiftedKey& shifted : kKeys) {
      if (!text.substr(at).starts_with(shifted.key)) continue;
      const size_t number = at + shifted.key.size();
      const size_t end = text.find_first_not_of("0123456789.", number);
      const std::string_view token = text.substr(number, end - number);
      const auto value =
          shifted.is_time ? trace::parse_us_as_ns(token) : trace::parse_integer_token(token);
      if (!value) continue;
      pieces.push_back(
          {text.substr(begin, number - begin), *value, shifted.is_time ? kStepNs : kStepId});
      begin = end;
      at = end;
      break;
    }
  }
  pieces.push_back({text.substr(begin), 0, 0});
  return pieces;
}

void append(std::string& out, const Piece& piece, int64_t repetition) {
  out += piece.text;
  const int64_t number = piece.number + repetition * piece.step;
  if (piece.step == kStepNs) {
    out += fmt::format("{}.{:03}", number / 1000, number % 1000);
  } else if (piece.step == kStepId) {
    out += fmt::format("{}", number);
  }
}

void check(const Result<void>& done) {
  if (!done) throw Error(done.error().message);
}

}  // namespace

int64_t write_big_trace(const std::filesystem::path& path, int64_t bytes) {
  trace::Defects defects;
  const auto input = trace::open_input(EPI_TEST_DATA "/traces/llama_train.json.gz");
  if (!input) throw Error(input.error().message);
  const std::string_view text = input->whole(defects).value();
  constexpr std::string_view kOpening = "\"traceEvents\": [";
  const size_t begin = text.find(kOpening) + kOpening.size();
  const size_t end = text.rfind(']');
  const std::string_view events = text.substr(begin, end - begin);
  int64_t count = 0;
  for (size_t at = events.find("\"ph\": "); at != std::string_view::npos;
       at = events.find("\"ph\": ", at + 1)) {
    ++count;
  }
  const auto pieces = split_pieces(events);
  auto file = OutputFile::create(path);
  if (!file) throw Error(file.error().message);
  check(file->write(text.substr(0, begin)));
  std::string buffer;
  int64_t repetition = 0;
  for (int64_t written = 0; written < bytes; ++repetition) {
    buffer.assign(repetition == 0 ? "" : ",");
    for (const Piece& piece : pieces) append(buffer, piece, repetition);
    check(file->write(buffer));
    written += static_cast<int64_t>(buffer.size());
  }
  check(file->write(text.substr(end)));
  check(file->commit());
  return repetition * count;
}

}  // namespace epi::bench
