// SPDX-License-Identifier: Apache-2.0
#include "epilogue/nn/checkpoint.h"

#include <system_error>

#include "epilogue/base/json_writer.h"
#include "epilogue/base/mapped_file.h"
#include "epilogue/base/result.h"
#include "epilogue/base/simdjson_start.h"

namespace epi::nn {
namespace {

namespace dom = simdjson::dom;
namespace fs = std::filesystem;

using WeightMap = std::map<std::string, std::string, std::less<>>;  // tensor to shard

// An index may only refer to files in its own folder, because it is downloaded together with its
// shards. A zero byte would truncate the name in system calls.
bool is_plain_name(std::string_view name) {
  constexpr std::string_view kForbidden("/\\\0", 3);
  return !name.empty() && name != "." && name.find("..") == std::string_view::npos &&
         name.find_first_of(kForbidden) == std::string_view::npos;
}

Result<dom::object> find_weight_map(dom::object root) {
  dom::object map;
  int found = 0;
  for (const dom::key_value_pair field : root) {
    if (field.key != "weight_map") continue;
    if (field.value.get(map)) return failure("weight_map: not an object");
    ++found;
  }
  if (found != 1) return failure("weight_map: appears {} times instead of once", found);
  return map;
}

Result<WeightMap> read_weight_map(dom::object map) {
  WeightMap weights;
  for (const dom::key_value_pair field : map) {
    const std::string tensor = json_quoted(field.key);
    std::string_view shard;
    if (field.value.get(shard)) return failure("tensor {}: the shard is not a string", tensor);
    if (!is_plain_name(shard)) {
      return failure("tensor {}: shard {} is not a plain file name", tensor, json_quoted(shard));
    }
    const bool added = weights.emplace(field.key, shard).second;
    if (!added) return failure("tensor {}: duplicate name", tensor);
  }
  return weights;
}

// The caller adds the path to failures.
Result<WeightMap> parse_index(std::span<const std::byte> file) {
  const simdjson::padded_string padded(reinterpret_cast<const char*>(file.data()), file.size());
  dom::parser parser;
  dom::element root;
  if (const auto error = parser.parse(padded).get(root)) {
    return failure("byte 0: not valid JSON: {}", simdjson::error_message(error));
  }
  dom::object object;
  if (root.get(object)) return failure("byte 0: not an object");
  const auto map = find_weight_map(object);
  EPI_TRY(map);
  return read_weight_map(*map);
}

Result<WeightMap> read_index(const fs::path& path) {
  const auto file = MappedFile::open(path);
  EPI_TRY(file);
  auto weights = parse_index(file->bytes());
  if (!weights) return failure("{}: {}", path.string(), weights.error().message);
  return weights;
}

}  // namespace

Result<Checkpoint> Checkpoint::open(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    return path.string().ends_with(".index.json") ? open_index(path) : open_file(path);
  }
  const fs::path single = path / "model.safetensors";
  const fs::path index = path / "model.safetensors.index.json";
  if (fs::exists(single, ignored)) return open_file(single);
  if (fs::exists(index, ignored)) return open_index(index);
  return failure("{}: contains neither model.safetensors nor model.safetensors.index.json",
                 path.string());
}

Result<Checkpoint> Checkpoint::open_file(const fs::path& path) {
  auto file = SafetensorsFile::open(path);
  EPI_TRY(file);
  Checkpoint checkpoint(path.string());
  for (std::string& name : file->names()) checkpoint.shard_of_.emplace(std::move(name), 0);
  checkpoint.shards_.push_back(std::move(*file));
  return checkpoint;
}

Result<Checkpoint> Checkpoint::open_index(const fs::path& path) {
  const auto weights = read_index(path);
  EPI_TRY(weights);
  Checkpoint checkpoint(path.string());
  std::map<std::string_view, size_t> opened;
  for (const auto& [name, shard] : *weights) {
    const auto [slot, is_new] = opened.emplace(shard, checkpoint.shards_.size());
    if (is_new) {
      auto file = SafetensorsFile::open(path.parent_path() / shard);
      if (!file) {
        return failure("{}: shard {}: {}", path.string(), json_quoted(shard), file.error().message);
      }
      checkpoint.shards_.push_back(std::move(*file));
    }
    if (!checkpoint.shards_[slot->second].contains(name)) {
      return failure("{}: tensor {}: not in its shard {}", path.string(), json_quoted(name),
                     json_quoted(shard));
    }
    checkpoint.shard_of_.emplace(name, slot->second);
  }
  return checkpoint;
}

std::vector<std::string> Checkpoint::files() const {
  std::vector<std::string> files;
  for (const SafetensorsFile& shard : shards_) files.push_back(shard.path());
  return files;
}

std::vector<std::string> Checkpoint::names() const {
  std::vector<std::string> names;
  names.reserve(shard_of_.size());
  for (const auto& [name, shard] : shard_of_) names.push_back(name);
  return names;
}

Result<Tensor> Checkpoint::tensor(std::string_view name) const {
  const auto found = shard_of_.find(name);
  if (found != shard_of_.end()) return shards_[found->second].tensor(name);
  return failure("{}: tensor {}: not in the checkpoint", path_, json_quoted(name));
}

std::string Checkpoint::find_prefix(std::string_view prefix, std::string_view name) const {
  std::string dotted = std::string(prefix) + ".";
  const bool needs_dot = !prefix.empty() && !contains(std::string(prefix) + std::string(name)) &&
                         contains(dotted + std::string(name));
  return needs_dot ? dotted : std::string(prefix);
}

}  // namespace epi::nn
