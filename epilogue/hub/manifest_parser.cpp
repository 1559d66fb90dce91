// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/manifest_parser.h"

#include <algorithm>
#include <iterator>

#include "epilogue/hub/export_schema.h"
#include "epilogue/hub/file_io.h"
#include "epilogue/hub/json_fields.h"
#include "epilogue/hub/variant.h"
#include "epilogue/nn/glu_mlp.h"

namespace epi::hub {
namespace {

constexpr size_t kMaxFiles = 1000;
constexpr int64_t kMaxVersion = 1'000'000;

std::map<std::string, FileEntry> read_files(const JsonField& field) {
  std::map<std::string, FileEntry> files;
  int64_t total = 0;
  for (const auto& [path, value] : field.members()) {
    if (const auto objection = path_error(path); !objection.empty()) value.refuse(objection);
    if (path == "manifest.json" || path == "manifest.sig") {
      value.refuse("the manifest must not list this file");
    }
    value.allow_only({"sha256", "bytes"});
    FileEntry entry{value.at("sha256").hash(), value.at("bytes").integer(0, kMaxFileBytes)};
    total += entry.bytes;
    if (!files.emplace(path, entry).second) value.refuse("duplicate file");
    if (total > kMaxFileBytes) {
      field.refuse(fmt::format("the total size exceeds the limit of {} bytes", kMaxFileBytes));
    }
    if (files.size() > kMaxFiles)
      field.refuse(fmt::format("must have at most {} entries", kMaxFiles));
  }
  return files;
}

// Reads the name of a layer's export and checks that it has `inputs` inputs and one output.
std::string read_export_name(const JsonField& layer, const char* key, const Manifest& manifest,
                             std::ptrdiff_t inputs) {
  const auto field = layer.find(key);
  if (!field) return "";
  const std::string name = field->text();
  const Export* one = manifest.find_export(name);
  if (one == nullptr) field->refuse("no such export");
  const auto outputs = std::ranges::count_if(one->operands, &Operand::output);
  if (outputs != 1 || std::ssize(one->operands) != inputs + 1) {
    field->refuse(fmt::format("must be an export with {} inputs and one output", inputs));
  }
  return name;
}

Layer read_layer(const JsonField& field, const Manifest& manifest) {
  field.allow_only({"name", "activation", "pointwise", "gate_up", "down"});
  Layer layer;
  layer.name = field.at("name").text();
  if (layer.name != "GluMlp") field.at("name").refuse("must be GluMlp");
  layer.activation = field.at("activation").text();
  if (!nn::glu_activation_from_name(layer.activation)) {
    field.at("activation").refuse("must be geglu, geglu_erf or swiglu");
  }
  layer.pointwise = read_export_name(field, "pointwise", manifest, 2);
  layer.gate_up = read_export_name(field, "gate_up", manifest, 3);
  layer.down = read_export_name(field, "down", manifest, 2);
  const bool two_kernels = !layer.gate_up.empty() && !layer.down.empty() && layer.pointwise.empty();
  const bool four_kernels = layer.gate_up.empty() && layer.down.empty() && !layer.pointwise.empty();
  if (!two_kernels && !four_kernels)
    field.refuse("must have either pointwise, or gate_up and down");
  return layer;
}

// Checks that the variant's name matches the other members.
void check_variant(const JsonField& root, const Manifest& manifest) {
  const auto variant = parse_variant(manifest.variant);
  if (!variant) root.at("variant").refuse(variant.error().message);
  if (variant->backend != manifest.backend) root.at("backend").refuse("does not match the variant");
  if (variant->targets != manifest.targets) root.at("targets").refuse("does not match the variant");
  if (variant->abi != manifest.abi_least)
    root.at("abi").refuse("\"least\" does not match the variant");
}

void read_exports(const JsonField& root, Manifest& manifest) {
  const JsonField exports = root.at("exports");
  for (const JsonField& item : exports.items()) {
    Export one = read_export(item);
    if (manifest.find_export(one.name) != nullptr) item.refuse("duplicate export name");
    const bool is_launched = manifest.backend != "cpu";
    if (is_launched == one.launches.empty()) {
      item.refuse(is_launched ? "must have launches, because its code is a cubin or PTX"
                              : "must not have launches, because its code is a CPU library");
    }
    manifest.exports.push_back(std::move(one));
  }
  if (manifest.exports.empty()) exports.refuse("must have at least one entry");
}

void read_source(const JsonField& root, Manifest& manifest) {
  const JsonField source = root.at("source");
  const JsonField commit = source.at("commit");
  if (!commit.is_null()) manifest.commit = commit.text();
  manifest.dirty = source.at("dirty").boolean();
}

Manifest read_manifest(const JsonField& root) {
  Manifest manifest;
  root.at("schema").integer(1, 1);
  root.allow_only({"schema", "name", "version", "variant", "license", "source", "released",
                   "expires", "abi", "backend", "targets", "least_driver", "code", "files",
                   "exports", "layers"});
  manifest.name = root.at("name").text();
  if (const auto objection = name_error(manifest.name); !objection.empty()) {
    root.at("name").refuse(objection);
  }
  manifest.version = root.at("version").integer(0, kMaxVersion);
  manifest.variant = root.at("variant").text();
  manifest.license = root.at("license").text();
  read_source(root, manifest);
  if (const auto released = root.find("released")) manifest.released = released->time();
  if (const auto expires = root.find("expires")) manifest.expires = expires->time();
  manifest.abi_least = root.at("abi").at("least").integer(1, 1'000'000);
  manifest.abi_most = root.at("abi").at("most").integer(manifest.abi_least, 1'000'000);
  manifest.backend = root.at("backend").text();
  for (const JsonField& item : root.at("targets").items()) manifest.targets.push_back(item.text());
  const JsonField driver = root.at("least_driver");
  if (!driver.is_null()) manifest.least_driver = driver.integer(0, 1'000'000);
  check_variant(root, manifest);
  manifest.files = read_files(root.at("files"));
  manifest.code = root.at("code").text();
  if (!manifest.files.contains(manifest.code)) root.at("code").refuse("not listed in \"files\"");
  read_exports(root, manifest);
  for (const JsonField& item : root.at("layers").items()) {
    manifest.layers.push_back(read_layer(item, manifest));
  }
  return manifest;
}

}  // namespace

Result<Manifest> parse_manifest(std::string_view text, std::string_view path) {
  if (static_cast<int64_t>(text.size()) > kMaxManifestBytes) {
    return failure("{}: {} bytes exceed the limit of {}", path, text.size(), kMaxManifestBytes);
  }
  return read_json(text, path, [](const JsonField& root) { return read_manifest(root); });
}

}  // namespace epi::hub
