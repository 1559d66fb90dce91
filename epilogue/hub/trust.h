// SPDX-License-Identifier: Apache-2.0
// The checks that a package must pass before it is used: the manifest's signature (checked before
// the manifest is parsed), the lock, and the hash of every file. The bytes that were checked are
// the bytes that run: they are kept in memory, and no file is read twice.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/hub/keys.h"
#include "epilogue/hub/lock.h"
#include "epilogue/hub/manifest.h"
#include "epilogue/hub/seen.h"

namespace epi::hub {

inline constexpr int64_t kMaxSignatureBytes = 1024;

// Applies to signatures. Hashes and the lock are always checked. `warn` accepts a package that is
// unsigned or signed with an unknown key, with a warning, and refuses an invalid signature.
enum class Policy : uint8_t { kRequire, kWarn, kOff };
std::optional<Policy> policy_from_name(std::string_view name);

struct Trust {
  Policy policy = Policy::kRequire;
  Keyring keyring;
  std::optional<Lock> lock;
  std::shared_ptr<Seen> seen = std::make_shared<Seen>();
  // Accepts packages from servers that are older than what was seen before.
  bool allow_downgrade = false;

  bool is_revoked(const KeyId& key) const {
    return keyring.is_revoked(key) || seen->state().revoked.contains(key);
  }
  // Whether a file signed by `key` must not be older than what was seen before.
  bool remembers(const KeyId& key) const { return policy != Policy::kOff && !key.empty(); }
  // Null if there is no lock or the package is not in it.
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

// Who signed a file, and what is wrong with the signature according to the policy.
struct SignerCheck {
  KeyId key;             // empty: not signed by a trusted key
  std::string finding;   // empty: nothing is wrong
  bool refused = false;  // the finding is a violation; otherwise it is a warning
};
// `name` is that of the files without their extensions: "manifest" or "packages". `signature` is
// empty if the file does not exist.
SignerCheck check_signer(std::string_view name, std::string_view bytes,
                         const std::optional<std::string>& signature, const Trust& trust);

// Adds a violation, or with the policy `warn` a warning, if `expires` is in the past.
void check_expiry(std::string_view file, const std::optional<std::string>& expires,
                  const Trust& trust, std::vector<std::string>& violations,
                  std::vector<std::string>& warnings);

// A checked manifest, or all reasons why it is refused.
struct CheckedManifest {
  std::vector<std::string> violations;
  std::vector<std::string> warnings;
  KeyId key;  // the key that signed it; empty: not signed by a trusted key
  std::string sha256;
  std::optional<Manifest> manifest;  // none if it was not parsed
};
// `signature` is empty if the file does not exist.
CheckedManifest check_manifest(const VariantName& expected, std::string_view manifest,
                               const std::optional<std::string>& signature, const Trust& trust);

struct CheckedVariant {
  CheckedManifest checked;
  std::map<std::string, std::string> files;  // contents by path
  bool is_trusted() const { return checked.violations.empty(); }
};
// Reads the manifest, its signature and every file of `folder`. Unreadable files and code for
// another machine are violations.
CheckedVariant check_variant(const VariantName& expected, const std::filesystem::path& folder,
                             const Trust& trust);

// The files of a folder as sorted relative paths. Includes links but does not follow them.
Result<std::vector<std::string>> list_files(const std::filesystem::path& folder);

}  // namespace epi::hub
