// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "epilogue/base/hash.h"
#include "epilogue/base/join.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/base/result.h"
#include "epilogue/hub/code_target.h"
#include "epilogue/hub/file_io.h"
#include "epilogue/hub/json_fields.h"
#include "epilogue/hub/manifest_parser.h"
#include "epilogue/hub/package_index.h"
#include "epilogue/hub/source.h"
#include "epilogue/hub/utc_time.h"
#include "epilogue/hub/variant.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

struct Recipe {
  std::string name;
  int64_t version = 0;
  std::vector<std::string> files;
  // JSON text that is copied to the manifest unchanged. The manifest parser checks it.
  std::string license, least_driver, code, exports, layers;
};

Recipe read_recipe(const JsonField& root) {
  root.allow_only(
      {"name", "version", "license", "least_driver", "code", "files", "exports", "layers"});
  Recipe recipe;
  recipe.name = root.at("name").text();
  recipe.version = root.at("version").integer();
  recipe.license = root.at("license").json();
  recipe.code = root.at("code").json();
  recipe.exports = root.at("exports").json();
  const auto driver = root.find("least_driver");
  recipe.least_driver = driver ? driver->json() : "null";
  const auto layers = root.find("layers");
  recipe.layers = layers ? layers->json() : "[]";
  const auto files = root.find("files");
  if (!files) recipe.files = {root.at("code").text()};
  for (const JsonField& item : files ? files->items() : std::vector<JsonField>()) {
    recipe.files.push_back(item.text());
  }
  return recipe;
}

std::string list_text(const std::vector<std::string>& words) {
  JsonWriter json;
  json.begin_array();
  for (const std::string& word : words) json.string(word);
  return json.end_array().text();
}

std::string files_text(const std::map<std::string, std::string>& files) {
  JsonWriter json;
  json.begin_object();
  for (const auto& [path, bytes] : files) {
    json.key(path).begin_object().key("sha256").string(sha256(bytes));
    json.key("bytes").integer(static_cast<int64_t>(bytes.size())).end_object();
  }
  return json.end_object().text();
}

std::string manifest_text(const Recipe& recipe, const AssembleOptions& options,
                          const Variant& variant, const std::map<std::string, std::string>& files) {
  const std::string commit = options.commit ? json_quoted(*options.commit) : "null";
  std::string text = fmt::format(
      R"({{"schema": 1, "name": {}, "version": {}, "variant": {}, "license": {}, )",
      json_quoted(recipe.name), recipe.version, json_quoted(options.variant), recipe.license);
  text += fmt::format(R"("source": {{"commit": {}, "dirty": {}}}, )", commit, options.dirty);
  text += fmt::format(R"("released": {}, )", json_quoted(build_time()));
  if (options.expires) text += fmt::format(R"("expires": {}, )", json_quoted(*options.expires));
  text += fmt::format(R"("abi": {{"least": {0}, "most": {0}}}, "backend": {1}, "targets": {2}, )",
                      variant.abi, json_quoted(variant.backend), list_text(variant.targets));
  text += fmt::format(
      R"("least_driver": {}, "code": {}, "files": {}, "exports": {}, "layers": {}}})",
      recipe.least_driver, recipe.code, files_text(files), recipe.exports, recipe.layers);
  return json_indented(text);
}

Result<std::map<std::string, std::string>> read_files(const Recipe& recipe,
                                                      const AssembleOptions& options) {
  const fs::path folder = options.files.empty() ? options.recipe.parent_path() : options.files;
  std::map<std::string, std::string> files;
  for (const std::string& path : recipe.files) {
    auto bytes = read_file_under(folder.empty() ? "." : folder, path, kMaxFileBytes);
    EPI_TRY(bytes);
    files[path] = std::move(*bytes);
  }
  return files;
}

// Checks every rule except the signature, so that a package that no reader accepts is not signed.
std::string signing_objection(const fs::path& folder, const std::string& manifest) {
  const auto parsed = parse_manifest(manifest, "manifest.json");
  if (!parsed) return parsed.error().message;
  const VariantName name{parsed->name, parsed->version, parsed->variant};
  std::error_code error;
  if (!fs::weakly_canonical(folder, error).string().ends_with("/" + path_of(name))) {
    return fmt::format("the folder's path must end with {}", path_of(name));
  }
  Trust trust;
  trust.policy = Policy::kOff;
  const CheckedVariant variant = check_variant(name, folder, trust);
  return variant.is_trusted() ? "" : join(variant.checked.violations, "; ");
}

}  // namespace

Result<VariantName> assemble(const AssembleOptions& options) {
  const auto text = read_user_file(options.recipe, kMaxManifestBytes);
  EPI_TRY(text);
  const auto recipe = read_json(*text, options.recipe.string(), read_recipe);
  EPI_TRY(recipe);
  const auto variant = parse_variant(options.variant);
  if (!variant) return failure("{}: {}", options.variant, variant.error().message);
  const auto files = read_files(*recipe, options);
  EPI_TRY(files);
  const std::string manifest = manifest_text(*recipe, options, *variant, *files);
  const auto parsed = parse_manifest(manifest, options.recipe.string());
  EPI_TRY(parsed);
  if (const auto objection = code_error(*parsed, files->at(parsed->code)); !objection.empty()) {
    return failure("{}: {}", options.recipe.string(), objection);
  }
  VariantName name{recipe->name, recipe->version, options.variant};
  const fs::path folder = options.out / path_of(name);
  std::error_code error;
  fs::remove_all(folder, error);
  if (error) return failure("{}: {}", folder.string(), error.message());
  for (const auto& [path, bytes] : *files) {
    EPI_TRY(write_file(folder / path, bytes));
  }
  EPI_TRY(write_file(folder / "manifest.json", manifest));
  EPI_TRY(write_index(options.out));
  return name;
}

Result<std::vector<fs::path>> sign_all(const fs::path& folder, const PrivateKey& key) {
  const auto files = list_files(folder);
  EPI_TRY(files);
  std::vector<fs::path> signed_folders;
  for (const std::string& file : *files) {
    const fs::path path = folder / file;
    if (path.filename() != "manifest.json") continue;
    const auto manifest = read_user_file(path, kMaxManifestBytes);
    EPI_TRY(manifest);
    if (const auto objection = signing_objection(path.parent_path(), *manifest);
        !objection.empty()) {
      return failure("{}: {}", path.parent_path().string(), objection);
    }
    const fs::path signature = path.parent_path() / "manifest.sig";
    EPI_TRY(write_file(signature, key.sign(*manifest)));
    signed_folders.push_back(path.parent_path());
  }
  if (signed_folders.empty()) return failure("{}: contains no manifest.json", folder.string());
  std::error_code ignored;
  const bool is_root = !fs::exists(folder / "manifest.json", ignored);
  if (is_root && fs::exists(folder / "packages.json", ignored)) EPI_TRY(write_index(folder, &key));
  return signed_folders;
}

}  // namespace epi::hub
