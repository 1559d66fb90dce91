// SPDX-License-Identifier: Apache-2.0
// Parses and checks the header of a safetensors file. Stricter than JSON: every byte of the file
// must have exactly one meaning, so that no two readers interpret a file differently.
#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <tuple>

#include "epilogue/base/json_writer.h"
#include "epilogue/base/result.h"
#include "epilogue/base/simdjson_start.h"
#include "epilogue/nn/safetensors.h"

namespace epi::nn {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the reference reader's limit
constexpr std::string_view kMetadataKey = "__metadata__";
constexpr std::array<std::string_view, 3> kEntryKeys = {"dtype", "shape", "data_offsets"};

struct KnownDType {
  std::string_view name;
  int64_t bits;
  std::optional<DType> dtype;
};

// clang-format off
constexpr std::array<KnownDType, 22> kKnownDTypes = {{
    {"F64", 64, DType::kF64}, {"F32", 32, DType::kF32}, {"BF16", 16, DType::kBF16},
    {"F16", 16, DType::kF16}, {"I64", 64, DType::kI64}, {"I32", 32, DType::kI32},
    {"BOOL", 8, DType::kBool}, {"I8", 8, DType::kI8},
    // Not supported. Listed for their size.
    {"C64", 64, {}}, {"U64", 64, {}}, {"U32", 32, {}}, {"U8", 8, {}}, {"F4", 4, {}},
    {"U16", 16, {}}, {"I16", 16, {}}, {"F8_E4M3", 8, {}}, {"F8_E5M2", 8, {}}, {"F8_E8M0", 8, {}},
    {"F8_E4M3FNUZ", 8, {}}, {"F8_E5M2FNUZ", 8, {}}, {"F6_E2M3", 6, {}}, {"F6_E3M2", 6, {}},
}};
// clang-format on

const KnownDType* find_dtype(std::string_view name) {
  const auto* found = std::ranges::find(kKnownDTypes, name, &KnownDType::name);
  return found == kKnownDTypes.end() ? nullptr : found;
}

std::string place(std::string_view name) { return "tensor " + json_quoted(name); }

// Callers add the path to the failures of the functions below, and the entry's name if they concern
// one entry.
Result<std::string_view> header_text(std::span<const std::byte> file) {
  if (file.size() < kLengthBytes) {
    return failure("byte {}: the file ends inside the header length", file.size());
  }
  uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kMaxHeaderBytes) {
    return failure("byte 0: the header length {} exceeds the limit of {} bytes", length,
                   kMaxHeaderBytes);
  }
  const std::span rest = file.subspan(kLengthBytes);
  if (length > rest.size()) {
    return failure("byte 8: the header has {} bytes, but the file has only {} left", length,
                   rest.size());
  }
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), length);
  if (!text.starts_with('{')) return failure("byte 8: the header does not start with '{{'");
  return text;
}

using EntryFields = std::map<std::string_view, dom::element>;

Result<EntryFields> entry_fields(dom::element value) {
  dom::object object;
  if (value.get(object)) return failure("the entry is not an object");
  EntryFields fields;
  for (const dom::key_value_pair field : object) {
    if (std::ranges::find(kEntryKeys, field.key) == kEntryKeys.end()) {
      return failure("unknown key {}", json_quoted(field.key));
    }
    const bool added = fields.emplace(field.key, field.value).second;
    if (!added) return failure("duplicate key \"{}\"", field.key);
  }
  for (const std::string_view key : kEntryKeys) {
    if (!fields.contains(key)) return failure("key \"{}\" is missing", key);
  }
  return fields;
}

Result<void> parse_shape(dom::element value, SafetensorsEntry& entry) {
  constexpr auto kRule = "shape is not an array of non-negative integers";
  dom::array sizes;
  if (value.get(sizes)) return failure(kRule);
  if (sizes.size() > kMaxRank) {
    return failure("rank {} exceeds the limit of {} dimensions", sizes.size(), kMaxRank);
  }
  for (const dom::element element : sizes) {
    int64_t size = 0;
    if (element.get(size) || size < 0) return failure(kRule);
    entry.shape.push_back(size);
  }
  return {};
}

Result<void> parse_offsets(dom::element value, int64_t data_bytes, SafetensorsEntry& entry) {
  dom::array offsets;
  const bool two = !value.get(offsets) && offsets.size() == 2;
  if (!two || offsets.at(0).get(entry.begin) || offsets.at(1).get(entry.end) || entry.begin < 0 ||
      entry.end < 0) {
    return failure("data_offsets are not two non-negative integers");
  }
  if (entry.begin > entry.end) {
    return failure("data_offsets start at {}, after their end at {}", entry.begin, entry.end);
  }
  if (entry.end > data_bytes) {
    return failure("data_offsets end at {}, past the {} bytes of the data section", entry.end,
                   data_bytes);
  }
  return {};
}

Result<void> check_size(const SafetensorsEntry& entry, const KnownDType* type) {
  // Counts a size of zero as one, because the strides of an empty tensor must also fit 64 bits.
  int64_t bits = type == nullptr ? 1 : type->bits;
  for (const int64_t size : entry.shape) {
    if (__builtin_mul_overflow(bits, std::max<int64_t>(size, 1), &bits)) {
      return failure("the size of shape {} exceeds 64 bits", to_string(entry.shape));
    }
  }
  if (type == nullptr) return {};
  if (numel(entry.shape) == 0) bits = 0;
  if (bits % 8 != 0) {
    return failure("shape {} of {} takes {} bits, which is not a whole number of bytes",
                   to_string(entry.shape), entry.dtype_name, bits);
  }
  if (bits / 8 != entry.end - entry.begin) {
    return failure("shape {} of {} takes {} bytes, but data_offsets span {}",
                   to_string(entry.shape), entry.dtype_name, bits / 8, entry.end - entry.begin);
  }
  return {};
}

Result<SafetensorsEntry> parse_entry(dom::key_value_pair field, int64_t data_bytes) {
  const auto fields = entry_fields(field.value);
  EPI_TRY(fields);
  std::string_view dtype_name;
  if (fields->at("dtype").get(dtype_name)) return failure("dtype is not a string");
  const KnownDType* type = find_dtype(dtype_name);
  SafetensorsEntry entry;
  entry.name = field.key;
  entry.dtype_name = dtype_name;
  if (type != nullptr) entry.dtype = type->dtype;
  auto checked = parse_shape(fields->at("shape"), entry);
  if (checked) checked = parse_offsets(fields->at("data_offsets"), data_bytes, entry);
  if (checked) checked = check_size(entry, type);
  EPI_TRY(checked);
  return entry;
}

Result<void> check_metadata(dom::element value) {
  dom::object object;
  if (value.get(object)) return failure("the entry is not an object");
  std::set<std::string_view> keys;
  for (const dom::key_value_pair field : object) {
    std::string_view text;
    if (field.value.get(text)) return failure("{} is not a string", json_quoted(field.key));
    if (!keys.insert(field.key).second) return failure("duplicate key {}", json_quoted(field.key));
  }
  return {};
}

Result<void> parse_fields(dom::object root, int64_t data_bytes, SafetensorsHeader& header) {
  bool has_metadata = false;
  for (const dom::key_value_pair field : root) {
    if (field.key != kMetadataKey) {
      auto entry = parse_entry(field, data_bytes);
      if (!entry) return failure("{}: {}", place(field.key), entry.error().message);
      header.entries.push_back(std::move(*entry));
    } else {
      if (std::exchange(has_metadata, true)) return failure("{}: duplicate key", kMetadataKey);
      const auto checked = check_metadata(field.value);
      if (!checked) return failure("{}: {}", kMetadataKey, checked.error().message);
    }
  }
  return {};
}

Result<void> sort_by_name(std::vector<SafetensorsEntry>& entries) {
  std::ranges::sort(entries, {}, &SafetensorsEntry::name);
  const auto duplicate = std::ranges::adjacent_find(entries, {}, &SafetensorsEntry::name);
  if (duplicate != entries.end()) return failure("{}: duplicate name", place(duplicate->name));
  return {};
}

// Rejects overlaps, gaps and trailing bytes, as the reference reader does. Takes a copy of the
// header to sort it by offset.
Result<void> check_coverage(SafetensorsHeader header, int64_t data_bytes) {
  std::ranges::sort(header.entries, {}, [](const SafetensorsEntry& entry) {
    return std::tie(entry.begin, entry.end, entry.name);
  });
  const SafetensorsEntry* last = nullptr;
  int64_t covered = 0;
  int64_t gap_end = data_bytes;
  for (const SafetensorsEntry& entry : header.entries) {
    if (entry.begin < covered) {
      return failure("{}: bytes {} to {} overlap {} at {} to {}", place(entry.name), entry.begin,
                     entry.end, place(last->name), last->begin, last->end);
    }
    if (entry.begin > covered) {
      gap_end = entry.begin;
      break;
    }
    covered = entry.end;
    last = &entry;
  }
  if (covered == gap_end) return {};
  return failure("byte {}: no tensor covers bytes {} to {} of the data section",
                 header.data_offset + covered, covered, gap_end);
}

Result<SafetensorsHeader> parse_header(std::span<const std::byte> file) {
  const auto text = header_text(file);
  EPI_TRY(text);
  const simdjson::padded_string padded(*text);  // simdjson reads past the end
  dom::parser parser;
  dom::object root;
  if (const auto error = parser.parse(padded).get(root)) {
    return failure("byte 8: the header is not valid JSON: {}", simdjson::error_message(error));
  }
  SafetensorsHeader header;
  header.data_offset = static_cast<int64_t>(kLengthBytes + text->size());
  const int64_t data_bytes = static_cast<int64_t>(file.size()) - header.data_offset;
  auto checked = parse_fields(root, data_bytes, header);
  if (checked) checked = sort_by_name(header.entries);
  if (checked) checked = check_coverage(header, data_bytes);
  EPI_TRY(checked);
  return header;
}

}  // namespace

Result<SafetensorsHeader> parse_safetensors_header(std::span<const std::byte> file,
                                                   std::string_view path) {
  auto header = parse_header(file);
  if (!header) return failure("{}: {}", path, header.error().message);
  return header;
}

}  // namespace epi::nn
