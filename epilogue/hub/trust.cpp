// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/trust.h"

#include <algorithm>

#include "epilogue/base/hash.h"
#include "epilogue/hub/file_io.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostSignatureBytes = 1024;

// Whether the manifest may be parsed.
bool check_signature(std::string_view manifest, const std::optional<std::string>& text,
                     const Trust& trust, CheckedManifest& checked) {
  if (trust.policy == Policy::kOff) return true;
  const auto doubt = [&](std::string why) {
    const bool refused = trust.policy == Policy::kRequire;
    (refused ? checked.violations : checked.warnings).push_back("manifest.sig: " + why);
    return !refused;
  };
  if (!text) return doubt("missing: nobody signed this package");
  const auto signature = parse_signature(*text);
  if (!signature) {
    checked.violations.push_back("manifest.sig: " + signature.error().message);
    return false;
  }
  if (!is_signature_of(*signature, manifest)) {
    checked.violations.push_back(
        fmt::format("manifest.sig: not the signature of manifest.json by {}", signature->key));
    return false;
  }
  if (trust.keyring.find(signature->key) == nullptr) {
    return doubt(fmt::format("signed by {}, which is in no keyring", signature->key));
  }
  checked.key = signature->key;
  return true;
}

void check_identity(const VariantName& wanted, CheckedManifest& checked) {
  const Manifest& manifest = *checked.manifest;
  const auto differs = [&](const char* what, const auto& has, const auto& should) {
    if (has == should) return;
    checked.violations.push_back(
        fmt::format("manifest.json: its {} is {}, not {}", what, has, should));
  };
  differs("name", manifest.name, wanted.package);
  differs("version", manifest.version, wanted.version);
  differs("variant", manifest.variant, wanted.variant);
}

// The manifest's files against the lock's; the files' own bytes are held against the manifest.
void check_locked_files(const LockedVariant& locked, const std::string& lock,
                        CheckedManifest& checked) {
  const auto& files = checked.manifest->files;
  for (const auto& [path, hash] : locked.files) {
    const auto found = files.find(path);
    if (found == files.end()) {
      checked.violations.push_back(fmt::format("{}: {} is locked, and missing", lock, path));
    } else if (found->second.sha256 != hash) {
      checked.violations.push_back(fmt::format("{}: {} is locked with sha256 {}, and has {}", lock,
                                               path, hash, found->second.sha256));
    }
  }
  for (const auto& [path, entry] : files) {
    if (!locked.files.contains(path)) {
      checked.violations.push_back(fmt::format("{}: {} is not locked", lock, path));
    }
  }
}

void check_lock(const VariantName& wanted, const Trust& trust, CheckedManifest& checked) {
  if (!trust.lock) return;
  const Lock& lock = *trust.lock;
  const auto refuse = [&](std::string why) {
    checked.violations.push_back(fmt::format("{}: {}", lock.path, why));
  };
  const LockedPackage* package = lock.find(wanted.package, wanted.version);
  if (package == nullptr) {
    refuse(fmt::format("{0}@{1} is not locked: `epilogue hub lock {0}@{1}`", wanted.package,
                       wanted.version));
    return;
  }
  if (trust.policy != Policy::kOff && package->key != checked.key) {
    const auto shown = [](const KeyId& key) { return key.empty() ? "no known key" : key; };
    refuse(fmt::format("the package is locked to {}, and signed by {}", shown(package->key),
                       shown(checked.key)));
  }
  const auto variant = package->variants.find(wanted.variant);
  if (variant == package->variants.end()) {
    refuse(fmt::format("{} is not locked", wanted.variant));
    return;
  }
  if (variant->second.manifest != checked.sha256) {
    refuse(fmt::format("manifest.json is locked with sha256 {}, and has {}",
                       variant->second.manifest, checked.sha256));
  }
  check_locked_files(variant->second, lock.path, checked);
}

void check_file(const fs::path& folder, const std::string& path, const FileEntry& entry,
                CheckedVariant& result) {
  auto bytes = read_file_under(folder, path, entry.bytes);
  auto& violations = result.checked.violations;
  if (!bytes) {
    std::error_code ignored;
    const bool exists =
        fs::symlink_status(folder / path, ignored).type() != fs::file_type::not_found;
    violations.push_back(exists ? bytes.error().message : fmt::format("{}: missing", path));
    return;
  }
  const std::string hash = sha256(*bytes);
  if (hash != entry.sha256) {
    violations.push_back(
        fmt::format("{}: sha256 is {}, the manifest says {}", path, hash, entry.sha256));
    return;
  }
  result.files[path] = std::move(*bytes);
}

Result<void> check_files(const fs::path& folder, CheckedVariant& result) {
  const auto& files = result.checked.manifest->files;
  for (const auto& [path, entry] : files) check_file(folder, path, entry, result);
  const auto present = list_files(folder);
  if (!present) return tl::unexpected(present.error());
  for (const std::string& path : *present) {
    if (path == "manifest.json" || path == "manifest.sig" || files.contains(path)) continue;
    result.checked.violations.push_back(fmt::format("{}: not in the manifest", path));
  }
  return {};
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

CheckedManifest check_manifest(const VariantName& wanted, std::string_view manifest,
                               const std::optional<std::string>& signature, const Trust& trust) {
  CheckedManifest checked;
  checked.sha256 = sha256(manifest);
  if (!check_signature(manifest, signature, trust, checked)) return checked;
  auto parsed = parse_manifest(manifest, "manifest.json");
  if (!parsed) {
    checked.violations.push_back(parsed.error().message);
    return checked;
  }
  checked.manifest = std::move(*parsed);
  check_identity(wanted, checked);
  check_lock(wanted, trust, checked);
  return checked;
}

Result<CheckedVariant> check_variant(const VariantName& wanted, const fs::path& folder,
                                     const Trust& trust) {
  const auto manifest = read_small_file(folder / "manifest.json", kMostManifestBytes);
  if (!manifest) return tl::unexpected(manifest.error());
  std::optional<std::string> signature;
  std::error_code ignored;
  if (fs::symlink_status(folder / "manifest.sig", ignored).type() != fs::file_type::not_found) {
    auto text = read_small_file(folder / "manifest.sig", kMostSignatureBytes);
    if (!text) return tl::unexpected(text.error());
    signature = std::move(*text);
  }
  CheckedVariant result{check_manifest(wanted, *manifest, signature, trust), {}};
  if (!result.checked.manifest) return result;
  if (auto done = check_files(folder, result); !done) return tl::unexpected(done.error());
  return result;
}

Result<std::vector<std::string>> list_files(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const auto type = at->symlink_status(error).type();
    if (type != fs::file_type::directory) {
      files.push_back(fs::path(at->path()).lexically_relative(folder).string());
    }
  }
  if (error) return failure("{}: {}", folder.string(), error.message());
  std::ranges::sort(files);
  return files;
}

}  // namespace epi::hub
