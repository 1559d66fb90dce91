// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/trust.h"

#include <algorithm>
#include <utility>

#include "epilogue/base/folder_names.h"
#include "epilogue/base/hash.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/hub/code_target.h"
#include "epilogue/hub/file_io.h"
#include "epilogue/hub/manifest_parser.h"
#include "epilogue/hub/utc_time.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

void check_identity(const VariantName& expected, CheckedManifest& checked) {
  const Manifest& manifest = *checked.manifest;
  const auto compare = [&](const char* member, const auto& actual, const auto& wanted) {
    if (actual == wanted) return;
    checked.violations.push_back(
        fmt::format("manifest.json: {} is {}, expected {}", member, actual, wanted));
  };
  compare("name", manifest.name, expected.package);
  compare("version", manifest.version, expected.version);
  compare("variant", manifest.variant, expected.variant);
}

// Compares the hashes in the manifest with those in the lock. `check_file` compares the files with
// the manifest.
void check_locked_files(const LockedVariant& locked, const std::string& lock,
                        CheckedManifest& checked) {
  const auto& files = checked.manifest->files;
  for (const auto& [path, hash] : locked.files) {
    const auto found = files.find(path);
    if (found == files.end()) {
      checked.violations.push_back(fmt::format("{}: {} is locked but missing", lock, path));
    } else if (found->second.sha256 != hash) {
      checked.violations.push_back(fmt::format("{}: {} is locked with sha256 {} but has {}", lock,
                                               path, hash, found->second.sha256));
    }
  }
  for (const auto& [path, entry] : files) {
    if (!locked.files.contains(path)) {
      checked.violations.push_back(fmt::format("{}: {} is not locked", lock, path));
    }
  }
}

void check_lock(const VariantName& expected, const Trust& trust, CheckedManifest& checked) {
  if (!trust.lock) return;
  const Lock& lock = *trust.lock;
  const auto refuse = [&](std::string why) {
    checked.violations.push_back(fmt::format("{}: {}", lock.path, why));
  };
  const LockedPackage* package = lock.find(expected.package, expected.version);
  if (package == nullptr) {
    refuse(fmt::format("{0}@{1} is not locked: run `epilogue hub lock {0}@{1}`", expected.package,
                       expected.version));
    return;
  }
  if (trust.policy != Policy::kOff && package->key != checked.key) {
    const auto shown = [](const KeyId& key) { return key.empty() ? "no known key" : key; };
    refuse(fmt::format("the package is locked to {} but signed by {}", shown(package->key),
                       shown(checked.key)));
  }
  const auto variant = package->variants.find(expected.variant);
  if (variant == package->variants.end()) {
    refuse(fmt::format("{} is not locked", expected.variant));
    return;
  }
  if (variant->second.manifest != checked.sha256) {
    refuse(fmt::format("manifest.json is locked with sha256 {} but has {}",
                       variant->second.manifest, checked.sha256));
  }
  check_locked_files(variant->second, lock.path, checked);
}

void check_file(const fs::path& folder, const std::string& path, const FileEntry& entry,
                CheckedVariant& result) {
  auto& violations = result.checked.violations;
  std::error_code ignored;
  const auto status = fs::symlink_status(folder / path, ignored);
  if (status.type() == fs::file_type::not_found) {
    violations.push_back(fmt::format("{}: missing", path));
    return;
  }
  if (status.type() == fs::file_type::regular) {
    const auto bytes = static_cast<int64_t>(fs::file_size(folder / path, ignored));
    if (bytes != entry.bytes) {
      violations.push_back(
          fmt::format("{}: {} bytes, the manifest lists {}", path, bytes, entry.bytes));
      return;
    }
  }
  auto bytes = read_file_under(folder, path, entry.bytes);
  if (!bytes) {
    violations.push_back(bytes.error().message);
    return;
  }
  const std::string hash = sha256(*bytes);
  if (hash != entry.sha256) {
    violations.push_back(
        fmt::format("{}: sha256 is {}, the manifest lists {}", path, hash, entry.sha256));
    return;
  }
  result.files[path] = std::move(*bytes);
}

void check_files(const fs::path& folder, CheckedVariant& result) {
  const Manifest& manifest = *result.checked.manifest;
  auto& violations = result.checked.violations;
  for (const auto& [path, entry] : manifest.files) check_file(folder, path, entry, result);
  const auto present = list_files(folder);
  if (!present) violations.push_back(present.error().message);
  for (const std::string& path : present ? *present : std::vector<std::string>()) {
    if (path == "manifest.json" || path == "manifest.sig" || manifest.files.contains(path))
      continue;
    const bool is_plain = path_error(path).empty();
    violations.push_back(
        fmt::format("{}: not in the manifest", is_plain ? path : json_quoted(path)));
  }
  const auto code = result.files.find(manifest.code);
  if (code == result.files.end()) return;
  if (const auto objection = code_error(manifest, code->second); !objection.empty()) {
    violations.push_back(objection);
  }
}

}  // namespace

std::optional<Policy> policy_from_name(std::string_view name) {
  if (name == "require") return Policy::kRequire;
  if (name == "warn") return Policy::kWarn;
  if (name == "off") return Policy::kOff;
  return std::nullopt;
}

std::string text_of(const VariantName& name) {
  return fmt::format("{}@{} {}", name.package, name.version, name.variant);
}

SignerCheck check_signer(std::string_view name, std::string_view bytes,
                         const std::optional<std::string>& text, const Trust& trust) {
  SignerCheck check;
  std::string untrusted;  // no signature, or an unknown key
  std::string invalid;
  if (!text) {
    untrusted =
        fmt::format("missing: {}",
                    name == "manifest"
                        ? "the package is not signed"
                        : "the index is not signed: its publisher must run `epilogue hub index`");
  } else if (const auto signature = parse_signature(*text); !signature) {
    invalid = signature.error().message;
  } else if (!is_signature_of(*signature, bytes)) {
    invalid = fmt::format("not a valid signature of {}.json by {}", name, signature->key);
  } else if (trust.is_revoked(signature->key)) {
    invalid = fmt::format("signed by {}, which is revoked", signature->key);
  } else if (trust.keyring.find(signature->key) == nullptr) {
    untrusted = fmt::format("signed by {}, which is not in any keyring", signature->key);
  } else {
    check.key = signature->key;
  }
  if (trust.policy == Policy::kOff || (untrusted.empty() && invalid.empty())) return check;
  check.refused = !invalid.empty() || trust.policy == Policy::kRequire;
  check.finding = fmt::format("{}.sig: {}{}", name, invalid, untrusted);
  return check;
}

void check_expiry(std::string_view file, const std::optional<std::string>& expires,
                  const Trust& trust, std::vector<std::string>& violations,
                  std::vector<std::string>& warnings) {
  if (!expires || trust.policy == Policy::kOff || utc_now() < *expires) return;
  (trust.policy == Policy::kRequire ? violations : warnings)
      .push_back(
          fmt::format("{}: expired {}: its publisher must release it again", file, *expires));
}

CheckedManifest check_manifest(const VariantName& expected, std::string_view manifest,
                               const std::optional<std::string>& signature, const Trust& trust) {
  CheckedManifest checked;
  checked.sha256 = sha256(manifest);
  SignerCheck signer = check_signer("manifest", manifest, signature, trust);
  checked.key = std::move(signer.key);
  if (!signer.finding.empty()) {
    (signer.refused ? checked.violations : checked.warnings).push_back(signer.finding);
  }
  if (signer.refused) return checked;
  auto parsed = parse_manifest(manifest, "manifest.json");
  if (!parsed) {
    checked.violations.push_back(parsed.error().message);
    return checked;
  }
  checked.manifest = std::move(*parsed);
  check_identity(expected, checked);
  check_expiry("manifest.json", checked.manifest->expires, trust, checked.violations,
               checked.warnings);
  check_lock(expected, trust, checked);
  return checked;
}

CheckedVariant check_variant(const VariantName& expected, const fs::path& folder,
                             const Trust& trust) {
  CheckedVariant result;
  const auto refuse = [&](std::string why) {
    result.checked.violations.push_back(std::move(why));
    return result;
  };
  std::error_code ignored;
  if (fs::is_symlink(folder, ignored)) {
    return refuse(fmt::format("{}: symbolic links are not allowed in packages", folder.string()));
  }
  const auto manifest = read_package_file(folder / "manifest.json", kMaxManifestBytes);
  if (!manifest) return refuse(manifest.error().message);
  std::optional<std::string> signature;
  if (fs::symlink_status(folder / "manifest.sig", ignored).type() != fs::file_type::not_found) {
    auto text = read_package_file(folder / "manifest.sig", kMaxSignatureBytes);
    if (!text) return refuse(text.error().message);
    signature = std::move(*text);
  }
  result.checked = check_manifest(expected, *manifest, signature, trust);
  if (result.checked.manifest) check_files(folder, result);
  return result;
}

Result<std::vector<std::string>> list_files(const fs::path& folder) {
  std::vector<std::string> files;
  std::vector<std::string> folders = {""};  // still to list, relative to `folder`
  while (!folders.empty()) {
    const std::string parent = std::move(folders.back());
    folders.pop_back();
    std::error_code error;
    const auto names = folder_names(folder / parent, error);
    for (size_t i = 0; !error && i < names.size(); ++i) {
      std::string path = parent.empty() ? names[i] : parent + "/" + names[i];
      const auto type = fs::symlink_status(folder / path, error).type();
      (type == fs::file_type::directory ? folders : files).push_back(std::move(path));
    }
    if (error) return failure("{}: {}", folder.string(), error.message());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace epi::hub
