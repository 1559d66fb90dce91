// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/package_index.h"

#include <algorithm>

#include "epilogue/base/file_lock.h"
#include "epilogue/base/folder_names.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/hub/file_io.h"
#include "epilogue/hub/json_fields.h"
#include "epilogue/hub/parse_count.h"
#include "epilogue/hub/revocation.h"
#include "epilogue/hub/utc_time.h"
#include "epilogue/hub/variant.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxIndexBytes = 16 << 20;

// Sorted names of subfolders; empty if the folder cannot be read.
std::vector<std::string> folders_in(const fs::path& folder) {
  std::error_code error;
  auto names = folder_names(folder, error);
  std::erase_if(names, [&](const std::string& name) {
    std::error_code gone;
    return !fs::is_directory(folder / name, gone);
  });
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

std::map<int64_t, std::vector<std::string>> read_versions(const JsonField& field) {
  std::map<int64_t, std::vector<std::string>> versions;
  for (const auto& [version, variants] : field.members()) {
    const auto number = parse_count(version);
    if (!number) variants.refuse("the version must be an integer");
    for (const JsonField& item : variants.items()) {
      if (const auto variant = parse_variant(item.text()); !variant) {
        item.refuse(variant.error().message);
      }
      versions[*number].push_back(item.text());
    }
  }
  return versions;
}

// Remembers the keys of the keyring that the source revokes.
Result<void> learn_revocations(const Source& source, const Trust& trust, CheckedIndex& checked) {
  const auto text = source.find(kRevokedFile, kMaxRevokedBytes, nullptr);
  EPI_TRY(text);
  if (!*text) return {};
  const auto revoked = parse_revocations(**text, fmt::format("{}/{}", source.name(), kRevokedFile));
  EPI_TRY(revoked);
  const auto stored = trust.seen->update([&](SeenState& state) {
    for (const KeyId& key : *revoked) {
      if (trust.keyring.find(key) != nullptr) state.revoked.insert(key);
    }
  });
  if (!stored)
    checked.warnings.push_back("revoked keys are not remembered: " + stored.error().message);
  return {};
}

// An index must not be older than the newest one from this source.
void check_released(const Source& source, const IndexFile& index, const Trust& trust,
                    CheckedIndex& checked) {
  const std::string released = index.released.value_or("");
  const auto indexes = trust.seen->state().indexes;
  const auto seen = indexes.find(source.name());
  if (seen != indexes.end() && released < seen->second && !trust.allow_downgrade) {
    checked.violations.push_back(fmt::format(
        "packages.json: released {}, but one released {} was seen before: an older index may hide "
        "packages; use an existing lock, or allow_downgrade to accept it",
        released.empty() ? "at an unknown time" : released, seen->second));
    return;
  }
  if (released.empty()) return;
  const auto stored = trust.seen->update([&](SeenState& state) {
    std::string& newest =
        state.indexes[source.name()];  // another process may have seen a newer one
    newest = trust.allow_downgrade ? released : std::max(newest, released);
  });
  if (!stored) checked.warnings.push_back("the index is not remembered: " + stored.error().message);
}

}  // namespace

Result<IndexFile> parse_index(std::string_view text, std::string_view path) {
  return read_json(text, path, [](const JsonField& root) {
    IndexFile index;
    root.allow_only({"packages", "released", "expires"});
    for (const auto& [name, versions] : root.at("packages").members()) {
      if (const auto objection = name_error(name); !objection.empty()) {
        versions.refuse(objection);
      }
      std::map<int64_t, std::vector<std::string>> listed = read_versions(versions);
      if (!listed.empty()) index.packages[name] = std::move(listed);
    }
    if (const auto released = root.find("released")) index.released = released->time();
    if (const auto expires = root.find("expires")) index.expires = expires->time();
    return index;
  });
}

std::string index_text(const IndexFile& index) {
  JsonWriter json;
  json.begin_object().key("packages").begin_object();
  for (const auto& [name, versions] : index.packages) {
    json.key(name).begin_object();
    for (const auto& [version, variants] : versions) {
      json.key(std::to_string(version)).begin_array();
      for (const std::string& variant : variants) json.string(variant);
      json.end_array();
    }
    json.end_object();
  }
  json.end_object();
  if (index.released) json.key("released").string(*index.released);
  if (index.expires) json.key("expires").string(*index.expires);
  return json_indented(json.end_object().text());
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

Result<void> write_index(const fs::path& folder, const PrivateKey* key,
                         std::optional<std::string> expires) {
  const fs::path path = folder / "packages.json";
  const fs::path signature = folder / "packages.sig";
  // Scanned under the lock, so that the last writer knows the packages of all others.
  const auto lock = FileLock::acquire(path);
  EPI_TRY(lock);
  auto packages = scan_packages(folder);
  EPI_TRY(packages);
  IndexFile index{std::move(*packages), std::nullopt, std::move(expires)};
  if (key != nullptr) index.released = build_time();
  const std::string text = index_text(index);
  // The old signature stays until the new index is written: a failed write changes nothing, and a
  // signature that does not match is refused.
  const std::string signed_text = key != nullptr ? key->sign(text) : "";
  EPI_TRY(write_file(path, text));
  if (key != nullptr) return write_file(signature, signed_text);
  std::error_code error;
  fs::remove(signature, error);
  if (error) return failure("{}: {}", signature.string(), error.message());
  return {};
}

Result<CheckedIndex> list_packages(const Source& source, const Trust& trust) {
  CheckedIndex checked;
  if (!source.is_remote()) {
    EPI_TRY(learn_revocations(source, trust, checked));
    auto packages = scan_packages(source.folder());
    EPI_TRY(packages);
    checked.packages = std::move(*packages);
    return checked;
  }
  const auto text = source.read("packages.json", kMaxIndexBytes);
  EPI_TRY(text);
  const auto signature = source.find("packages.sig", kMaxSignatureBytes, nullptr);
  EPI_TRY(signature);
  EPI_TRY(learn_revocations(source, trust, checked));
  SignerCheck signer = check_signer("packages", *text, *signature, trust);
  checked.key = std::move(signer.key);
  if (!signer.finding.empty()) {
    (signer.refused ? checked.violations : checked.warnings).push_back(signer.finding);
  }
  if (signer.refused) return checked;
  auto index = parse_index(*text, source.name() + "/packages.json");
  EPI_TRY(index);
  check_expiry("packages.json", index->expires, trust, checked.violations, checked.warnings);
  if (trust.remembers(checked.key)) check_released(source, *index, trust, checked);
  if (checked.violations.empty()) checked.packages = std::move(index->packages);
  return checked;
}

}  // namespace epi::hub
