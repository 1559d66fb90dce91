// SPDX-License-Identifier: Apache-2.0
// Tensors in a mapped file, and the writer. safetensors_header.cpp checks the header.
#include "epilogue/nn/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstring>
#include <set>

#include "epilogue/base/json_writer.h"
#include "epilogue/base/output_file.h"
#include "epilogue/base/result.h"
#include "epilogue/base/utf8.h"
#include "epilogue/tensor/factories.h"

namespace epi::nn {
namespace {

using NamedTensor = std::pair<std::string, Tensor>;
using Metadata = std::map<std::string, std::string>;

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

constexpr std::string_view kOp = "save_safetensors";
constexpr size_t kLengthBytes = 8;
constexpr size_t kMaxHeaderBytes = 100'000'000;   // readers reject larger headers
constexpr size_t kDataAlignment = 64;             // a cache line and an AVX-512 register
constexpr size_t kBufferBytes = size_t{1} << 20;  // few system calls, still fits the L2 cache

void check_text(std::string_view what, std::string_view text) {
  for (std::string_view rest = text; !rest.empty();) {
    const size_t length = utf8_length(rest);
    if (length == 0) fail(kOp, "{} {} is not UTF-8", what, json_quoted(text));
    rest.remove_prefix(length);
  }
}

void check_arguments(std::span<const NamedTensor> tensors, const Metadata& metadata) {
  std::set<std::string_view> names;
  for (const auto& [name, tensor] : tensors) {
    check_text("tensor", name);
    if (name == "__metadata__") fail(kOp, "the name {} is reserved", name);
    if (!names.insert(name).second) fail(kOp, "duplicate tensor name {}", json_quoted(name));
    if (!tensor.defined()) fail(kOp, "tensor {} is undefined", json_quoted(name));
    if (tensor.device() != kCpu) {
      fail(kOp, "tensor {} is on {}, not on the CPU", json_quoted(name),
           epi::name(tensor.device()));
    }
  }
  for (const auto& [key, value] : metadata) {
    check_text("metadata key", key);
    check_text("metadata value", value);
  }
}

// Larger elements first, so that each tensor starts at a multiple of its element size.
std::vector<const NamedTensor*> file_order(std::span<const NamedTensor> tensors) {
  std::vector<const NamedTensor*> order;
  order.reserve(tensors.size());
  for (const NamedTensor& named : tensors) order.push_back(&named);
  std::ranges::sort(order, {}, [](const NamedTensor* named) {
    return std::pair(-size_bytes(named->second.dtype()), std::string_view(named->first));
  });
  return order;
}

// Files use our dtype names in upper case: "bf16" is "BF16".
std::string file_dtype_name(DType dtype) {
  std::string upper(name(dtype));
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

void append_entry(JsonWriter& json, const NamedTensor& named, int64_t begin) {
  const Tensor& tensor = named.second;
  json.key(named.first).begin_object();
  json.key("dtype").string(file_dtype_name(tensor.dtype()));
  json.key("shape").begin_array();
  for (const int64_t size : tensor.shape()) json.integer(size);
  json.end_array().key("data_offsets").begin_array();
  json.integer(begin).integer(begin + tensor.size_bytes()).end_array().end_object();
}

// Padded with spaces, so that the data section begins at a multiple of `kDataAlignment`.
std::string header_text(std::span<const NamedTensor* const> order, const Metadata& metadata) {
  JsonWriter json;
  json.begin_object();
  if (!metadata.empty()) {
    json.key("__metadata__").begin_object();
    for (const auto& [key, value] : metadata) json.key(key).string(value);
    json.end_object();
  }
  int64_t begin = 0;
  for (const NamedTensor* named : order) {
    append_entry(json, *named, begin);
    begin += named->second.size_bytes();
  }
  std::string text = json.end_object().text();
  while ((kLengthBytes + text.size()) % kDataAlignment != 0) text += ' ';
  if (text.size() > kMaxHeaderBytes) {
    fail(kOp, "the header has {} bytes, the limit is {}", text.size(), kMaxHeaderBytes);
  }
  return text;
}

// Advances `offset` to the next row in row-major order. Returns false after the last row.
bool next_row(const Layout& layout, Dims& index, int64_t& offset) {
  for (int d = layout.rank() - 2; d >= 0; --d) {
    offset += layout.strides[d];
    if (++index[d] < layout.shape[d]) return true;
    offset -= layout.strides[d] * layout.shape[d];
    index[d] = 0;
  }
  return false;
}

Result<void> write_strided(OutputFile& file, const Tensor& tensor) {
  const Layout layout = collapse(tensor.layout());
  const int64_t element_bytes = size_bytes(tensor.dtype());
  std::vector<std::byte> buffer(kBufferBytes);
  size_t used = 0;
  Dims index = Dims::filled(layout.rank(), 0);
  int64_t offset = 0;
  do {
    for (int64_t i = 0; i < layout.shape.back(); ++i) {
      const int64_t at = (offset + i * layout.strides.back()) * element_bytes;
      std::memcpy(&buffer[used], tensor.raw_data() + at, static_cast<size_t>(element_bytes));
      used += static_cast<size_t>(element_bytes);
      if (used < buffer.size()) continue;  // the buffer size is a multiple of every element size
      const auto written = file.write(buffer);
      EPI_TRY(written);
      used = 0;
    }
  } while (next_row(layout, index, offset));
  return file.write(std::span(buffer).first(used));
}

Result<void> write_tensor(OutputFile& file, const Tensor& tensor) {
  if (!tensor.is_contiguous()) return write_strided(file, tensor);
  return file.write(std::span(tensor.raw_data(), static_cast<size_t>(tensor.size_bytes())));
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  auto mapped = MappedFile::open(path);
  EPI_TRY(mapped);
  auto header = parse_safetensors_header(mapped->bytes(), path.string());
  EPI_TRY(header);
  return SafetensorsFile(path.string(), std::make_shared<MappedFile>(std::move(*mapped)),
                         std::move(*header));
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  names.reserve(header_.entries.size());
  for (const SafetensorsEntry& entry : header_.entries) names.push_back(entry.name);
  return names;
}

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(header_.entries, name, {}, &SafetensorsEntry::name);
  return found != header_.entries.end() && found->name == name ? &*found : nullptr;
}

Result<Tensor> SafetensorsFile::tensor(std::string_view name) const {
  const SafetensorsEntry* entry = find(name);
  if (entry == nullptr) return failure("{}: tensor {}: not in the file", path_, json_quoted(name));
  if (!entry->dtype) {
    return failure("{}: tensor {}: dtype {} is not supported", path_, json_quoted(name),
                   json_quoted(entry->dtype_name));
  }
  const DType dtype = *entry->dtype;
  const int64_t bytes = entry->end - entry->begin;
  std::byte* data = mapping_->bytes().data() + header_.data_offset + entry->begin;
  const auto is_valid_bool = [](std::byte b) { return b <= std::byte{1}; };
  if (dtype == DType::kBool && !std::all_of(data, data + bytes, is_valid_bool)) {
    return failure("{}: tensor {}: a BOOL byte is neither 0 nor 1", path_, json_quoted(name));
  }
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(size_bytes(dtype)) == 0) {
    const std::lock_guard lock(storages_->mutex);
    auto& shared = storages_->by_name[entry->name];
    auto storage = shared.lock();
    if (storage == nullptr) {
      storage = Storage::wrap(kCpu, data, bytes, [mapping = mapping_] {});
      shared = storage;
    }
    return Tensor(std::move(storage), {entry->shape, contiguous_strides(entry->shape)}, 0, dtype);
  }
  // Kernels require alignment but the format does not, so an unaligned tensor is copied.
  Tensor copy = empty(entry->shape, {dtype, kCpu});
  std::memcpy(copy.raw_data(), data, static_cast<size_t>(bytes));
  return copy;
}

Result<void> save_safetensors(const std::filesystem::path& path,
                              std::span<const NamedTensor> tensors, const Metadata& metadata) {
  check_arguments(tensors, metadata);
  const auto order = file_order(tensors);
  const std::string header = header_text(order, metadata);
  auto file = OutputFile::create(path);
  EPI_TRY(file);
  const auto length = std::bit_cast<std::array<std::byte, kLengthBytes>>(uint64_t{header.size()});
  auto written = file->write(length);
  if (written) written = file->write(header);
  for (size_t i = 0; written && i < order.size(); ++i) {
    written = write_tensor(*file, order[i]->second);
  }
  if (written) written = file->commit();
  return written;
}

}  // namespace epi::nn
