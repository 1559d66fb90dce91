// SPDX-License-Identifier: Apache-2.0
// Reads and writes safetensors files: 8 bytes of header length, a JSON header, then the tensor
// data. Files are memory-mapped. Tensors are views of the mapping and keep it alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/base/mapped_file.h"
#include "epilogue/base/result.h"
#include "epilogue/tensor/tensor.h"

namespace epi::nn {

struct SafetensorsEntry {
  std::string name;
  std::string dtype_name;      // as in the file: "BF16"
  std::optional<DType> dtype;  // none: a dtype we do not support, such as F8_E4M3
  Dims shape;
  int64_t begin = 0;  // bytes, relative to the data section
  int64_t end = 0;
};

struct SafetensorsHeader {
  int64_t data_offset = 0;                // bytes from the start of the file to the data section
  std::vector<SafetensorsEntry> entries;  // sorted by name
};

// Parses the header of a complete file and checks every rule of the format. Accepts untrusted
// input: a violation is a failure that names its position. `path` is used in messages only. O(n log
// n).
Result<SafetensorsHeader> parse_safetensors_header(std::span<const std::byte> file,
                                                   std::string_view path);

// One file. Copies share the mapping. Reads are thread-safe.
class SafetensorsFile {
 public:
  // Maps the file and parses its header. Does not touch tensor data.
  static Result<SafetensorsFile> open(const std::filesystem::path& path);

  const std::string& path() const { return path_; }
  std::vector<std::string> names() const;  // sorted
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  // Returns a view of the mapping, shared by all tensors with this name. Writes are private to this
  // process. Fails if the file has no such tensor or its dtype is not supported.
  Result<Tensor> tensor(std::string_view name) const;

 private:
  SafetensorsFile(std::string path, std::shared_ptr<MappedFile> mapping, SafetensorsHeader header)
      : path_(std::move(path)), mapping_(std::move(mapping)), header_(std::move(header)) {}
  const SafetensorsEntry* find(std::string_view name) const;

  std::string path_;
  std::shared_ptr<MappedFile> mapping_;
  SafetensorsHeader header_;
  // The storage of each tensor in use, so that all tensors with one name share it.
  struct Storages {
    std::mutex mutex;
    std::map<std::string, std::weak_ptr<Storage>, std::less<>> by_name;
  };
  std::shared_ptr<Storages> storages_ = std::make_shared<Storages>();
};

// Writes CPU tensors with any strides, in row-major order. The file is written atomically. The
// order of `tensors` does not matter. Throws `Error` for duplicate names and for tensors not on the
// CPU.
Result<void> save_safetensors(const std::filesystem::path& path,
                              std::span<const std::pair<std::string, Tensor>> tensors,
                              const std::map<std::string, std::string>& metadata = {});

}  // namespace epi::nn
