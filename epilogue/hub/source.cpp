// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/source.h"

#include <algorithm>

#include "epilogue/base/json_writer.h"
#include "epilogue/base/result.h"
#include "epilogue/hub/file_io.h"
#include "epilogue/hub/json_fields.h"
#include "epilogue/hub/parse_count.h"
#include "epilogue/hub/variant.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

// Sorted names of subfolders; empty if the folder cannot be read.
std::vector<std::string> folders_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (at->is_directory(gone)) names.push_back(at->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

void scan_versions(const fs::path& package, const std::string& name, PackageIndex& index) {
  for (const std::string& version : folders_in(package)) {
    const auto number = version.starts_with('v') ? parse_count(version.substr(1)) : std::nullopt;
    if (!number) continue;
    for (std::string& variant : folders_in(package / version / "build")) {
      if (parse_variant(variant)) index[name][*number].push_back(std::move(variant));
    }
  }
}

}  // namespace

Result<std::string> Source::read(const std::string& path, int64_t max_bytes,
                                 const FetchProgress& progress) const {
  auto found = find(path, max_bytes, progress);
  EPI_TRY(found);
  if (!*found) return failure("{}/{}: not found", name(), path);
  return std::move(**found);
}

std::string path_of(const VariantName& name) {
  return fmt::format("{}/v{}/build/{}", name.package, name.version, name.variant);
}

Result<PackageIndex> scan_packages(const fs::path& folder) {
  PackageIndex index;
  for (const std::string& group : folders_in(folder)) {
    for (const std::string& word : folders_in(folder / group)) {
      const std::string name = fmt::format("{}/{}", group, word);
      if (name_error(name).empty()) scan_versions(folder / name, name, index);
    }
  }
  return index;
}

Result<PackageIndex> parse_index(std::string_view text, std::string_view path) {
  return read_json(text, path, [](const JsonField& root) {
    PackageIndex index;
    for (const auto& [name, versions] : root.at("packages").members()) {
      if (const auto objection = name_error(name); !objection.empty()) {
        versions.refuse(objection);
      }
      for (const auto& [version, variants] : versions.members()) {
        const auto number = parse_count(version);
        if (!number) variants.refuse("the version must be an integer");
        for (const JsonField& item : variants.items()) {
          if (const auto variant = parse_variant(item.text()); !variant) {
            item.refuse(variant.error().message);
          }
          index[name][*number].push_back(item.text());
        }
      }
    }
    return index;
  });
}

std::string index_text(const PackageIndex& index) {
  JsonWriter json;
  json.begin_object().key("packages").begin_object();
  for (const auto& [name, versions] : index) {
    json.key(name).begin_object();
    for (const auto& [version, variants] : versions) {
      json.key(std::to_string(version)).begin_array();
      for (const std::string& variant : variants) json.string(variant);
      json.end_array();
    }
    json.end_object();
  }
  return json_indented(json.end_object().end_object().text());
}

}  // namespace epi::hub
