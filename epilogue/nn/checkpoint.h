// SPDX-License-Identifier: Apache-2.0
// The weights of a model by name, stored in one safetensors file or in several shards. `open` opens
// all shards, so a broken checkpoint fails there and not while a model is being loaded. It reads
// only their headers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/nn/safetensors.h"

namespace epi::nn {

// Copies share the mappings. Reads are thread-safe.
class Checkpoint {
 public:
  // Opens a .safetensors file, a *.safetensors.index.json with its shards in the same folder, or a
  // folder that contains model.safetensors (preferred) or model.safetensors.index.json.
  static Result<Checkpoint> open(const std::filesystem::path& path);

  const std::string& path() const { return path_; }
  std::vector<std::string> files() const;  // the shards
  std::vector<std::string> names() const;  // sorted; a sharded checkpoint lists those in its index
  bool contains(std::string_view name) const { return shard_of_.contains(name); }
  // Returns a view of the shard's mapping, like `SafetensorsFile::tensor`.
  Result<Tensor> tensor(std::string_view name) const;
  // The prefix, or with a dot after it if the tensor `name` is stored under that one.
  std::string find_prefix(std::string_view prefix, std::string_view name) const;

 private:
  explicit Checkpoint(std::string path) : path_(std::move(path)) {}
  static Result<Checkpoint> open_file(const std::filesystem::path& path);
  static Result<Checkpoint> open_index(const std::filesystem::path& path);

  std::string path_;
  std::vector<SafetensorsFile> shards_;
  std::map<std::string, size_t, std::less<>> shard_of_;
};

}  // namespace epi::nn
