// SPDX-License-Identifier: Apache-2.0
// Parses any bytes as a safetensors file. The parser reports an error, or the accepted header
// satisfies its invariants.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "epilogue/nn/safetensors.h"

namespace {

using epi::nn::SafetensorsEntry;
using epi::nn::SafetensorsHeader;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_entry(const SafetensorsEntry& entry, int64_t data_bytes) {
  require(0 <= entry.begin && entry.begin <= entry.end && entry.end <= data_bytes);
  for (const int64_t size : entry.shape) require(size >= 0);
  const epi::Dims strides = epi::contiguous_strides(entry.shape);  // ubsan: no overflow
  require(strides.rank() == entry.shape.rank());
  if (!entry.dtype) return;
  require(epi::numel(entry.shape) * epi::size_bytes(*entry.dtype) == entry.end - entry.begin);
}

void check_header(const SafetensorsHeader& header, int64_t file_bytes) {
  const int64_t data_bytes = file_bytes - header.data_offset;
  require(header.data_offset >= 8 && data_bytes >= 0);
  int64_t covered = 0;
  const std::string* last_name = nullptr;
  for (const SafetensorsEntry& entry : header.entries) {
    check_entry(entry, data_bytes);
    require(last_name == nullptr || *last_name < entry.name);
    last_name = &entry.name;
    covered += entry.end - entry.begin;
  }
  require(covered == data_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto header =
      epi::nn::parse_safetensors_header(std::as_bytes(std::span(data, size)), "fuzz");
  if (header) {
    check_header(*header, static_cast<int64_t>(size));
  } else {
    require(header.error().message.starts_with("fuzz: "));
  }
  return 0;
}
