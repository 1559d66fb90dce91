// SPDX-License-Identifier: Apache-2.0
// Reading and writing safetensors files: 8 bytes of length, a JSON header, then the tensors' bytes.
// A file is mapped, not read: its tensors are views onto the mapping, and keep it alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
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
  std::optional<DType> dtype;  // none: not one of ours, such as F8_E4M3
  Dims shape;
  int64_t begin = 0;  // bytes, relative to the data section
  int64_t end = 0;
};

struct SafetensorsHeader {
  int64_t data_offset = 0;                // bytes from the start of the file to the data section
  std::vector<SafetensorsEntry> entries;  // sorted by name
  std::map<std::string, std::string> metadata;
};

// The header of a whole file's bytes, with every rule of the format checked; `path` is for messages
// only. Any bytes are safe: what breaks a rule is a failure that names the place. O(n log n).
Result<SafetensorsHeader> parse_safetensors_header(std::span<const std::byte> file,
                                                   std::string_view path);

// One file. Copies share the mapping; any thread may read.
class SafetensorsFile {
 public:
  // Maps the file and parses its header; no tensor's bytes are touched.
  static Result<SafetensorsFile> open(const std::filesystem::path& path);

  std::vector<std::string> names() const;  // sorted
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  // A view onto the mapping, which all tensors of one name share; a write stays in this process.
  // Fails for a name that the file lacks, and for a dtype that is not ours.
  Result<Tensor> tensor(std::string_view name) const;
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }

 private:
  SafetensorsFile(std::string path, std::shared_ptr<MappedFile> mapping, SafetensorsHeader header)
      : path_(std::move(path)), mapping_(std::move(mapping)), header_(std::move(header)) {}
  const SafetensorsEntry* find(std::string_view name) const;

  std::string path_;
  std::shared_ptr<MappedFile> mapping_;
  SafetensorsHeader header_;
};

// Writes CPU tensors of any strides, row-major; the file appears whole or not at all. The order of
// `tensors` does not matter. Throws `Error` for two equal names and for tensors not on the CPU.
Result<void> save_safetensors(const std::filesystem::path& path,
                              std::span<const std::pair<std::string, Tensor>> tensors,
                              const std::map<std::string, std::string>& metadata = {});

}  // namespace epi::nn
