// SPDX-License-Identifier: Apache-2.0
// What must hold before anything of a package is used: who signed the manifest (checked before it
// is parsed), what the lock says, and the hash of every file. Bytes that were checked are the bytes
// that are run: they are kept in memory, and no file is read twice.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/hub/keys.h"
#include "epilogue/hub/lock.h"
#include "epilogue/hub/manifest.h"

namespace epi::hub {

inline constexpr int64_t kMaxSignatureBytes = 1024;

// Of signatures; hashes and the lock hold whatever it is. `warn` accepts a package that nobody, or
// somebody unknown, signed, and says so; a signature that is not the manifest's it refuses, too.
enum class Policy : uint8_t { kRequire, kWarn, kOff };
std::optional<Policy> policy_from_name(std::string_view name);

struct Trust {
  Policy policy = Policy::kRequire;
  Keyring keyring;
  std::optional<Lock> lock;

  // Null where there is no lock, and where it does not hold the package.
  const LockedPackage* find_locked(std::string_view name, int64_t version) const {
    return lock ? lock->find(name, version) : nullptr;
  }
};

// One variant of one version.
struct VariantName {
  std::string package;
  int64_t version = 0;
  std::string variant;
};
std::string text_of(const VariantName& name);  // "epilogue/glu@1 abi1-cpu-x86_64-linux"

// A manifest that has been checked, or why it is refused: all reasons at once.
struct CheckedManifest {
  std::vector<std::string> violations;
  std::vector<std::string> warnings;
  KeyId key;  // that signed it; empty: not signed, or by nobody we know
  std::string sha256;
  std::optional<Manifest> manifest;  // none where it was not parsed
};
// `signature` is none where there is no file.
CheckedManifest check_manifest(const VariantName& wanted, std::string_view manifest,
                               const std::optional<std::string>& signature, const Trust& trust);

struct CheckedVariant {
  CheckedManifest checked;
  std::map<std::string, std::string> files;  // their bytes
  bool is_trusted() const { return checked.violations.empty(); }
};
// Reads the manifest, its signature and every file of `folder`; what cannot be read is a violation.
// Code that is not for the variant's machine is one, too.
CheckedVariant check_variant(const VariantName& wanted, const std::filesystem::path& folder,
                             const Trust& trust);

// The files of a folder, relative and sorted; links are among them, and never followed.
Result<std::vector<std::string>> list_files(const std::filesystem::path& folder);

}  // namespace epi::hub
