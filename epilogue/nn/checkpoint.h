// SPDX-License-Identifier: Apache-2.0
// The weights of a model as one set of names, whether they lie in one safetensors file or in many.
// Shards are opened at once, so that a broken checkpoint fails here and not in the middle of a
// model; that reads their headers only.
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

// Copies share the mappings; any thread may read.
class Checkpoint {
 public:
  // Opens a .safetensors file, a *.safetensors.index.json with the shards beside it, or a folder
  // that holds model.safetensors (preferred) or model.safetensors.index.json.
  static Result<Checkpoint> open(const std::filesystem::path& path);

  const std::string& path() const { return path_; }
  std::vector<std::string> names() const;  // sorted; of a sharded checkpoint, those in its index
  bool contains(std::string_view name) const { return shard_of_.contains(name); }
  // As `SafetensorsFile::tensor`: a view onto the shard's mapping.
  Result<Tensor> tensor(std::string_view name) const;

 private:
  explicit Checkpoint(std::string path) : path_(std::move(path)) {}
  static Result<Checkpoint> open_file(const std::filesystem::path& path);
  static Result<Checkpoint> open_index(const std::filesystem::path& path);

  std::string path_;
  std::vector<SafetensorsFile> shards_;
  std::map<std::string, size_t, std::less<>> shard_of_;
};

}  // namespace epi::nn
