// SPDX-License-Identifier: Apache-2.0
// Ed25519 keys, key files and keyrings. All files are lines of text:
//   key file    ed25519-private <64 hex digits>
//   keyring     ed25519 <64 hex digits> <a name>      (# starts a comment)
//               revoked ed25519 <64 hex digits> ...   this key is not trusted, see revocation.h
//   signature   ed25519 <64 hex digits of the key> <128 hex digits>
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/base/result.h"

namespace epi::hub {

// A public key as 64 hex digits, which identifies the key everywhere.
using KeyId = std::string;

class PrivateKey {
 public:
  static PrivateKey generate();
  // Refuses a file that other users can read.
  static Result<PrivateKey> read(const std::filesystem::path& path);

  const KeyId& id() const { return id_; }
  // Returns the line for `manifest.sig`.
  std::string sign(std::string_view bytes) const;
  // Creates a file that only its owner can read. Fails if the file exists, so that no key is
  // overwritten.
  Result<void> save(const std::filesystem::path& path) const;

 private:
  using Seed = std::array<uint8_t, 32>;
  explicit PrivateKey(const Seed& seed);
  Seed seed_;
  KeyId id_;
};

struct Signature {
  KeyId key;
  std::string digits;  // 128 hex digits
};
// Parses the exact text of a `manifest.sig`.
Result<Signature> parse_signature(std::string_view text);
bool is_signature_of(const Signature& signature, std::string_view bytes);

// The public keys that are trusted.
class Keyring {
 public:
  struct Key {
    KeyId id;
    std::string name;
  };
  // `path` is used in messages.
  static Result<Keyring> parse(std::string_view text, std::string_view path);
  // Reads the keys of every file that exists. Refuses a file that belongs to another user than
  // root, or that other users can write to.
  static Result<Keyring> read(std::span<const std::filesystem::path> paths);

  const Key* find(const KeyId& id) const;
  bool is_revoked(const KeyId& id) const { return revoked_.contains(id); }

 private:
  std::vector<Key> keys_;
  std::set<KeyId> revoked_;
};

// Appends a line to a keyring or a list of revoked keys. Creates the file if it does not exist.
// Several processes may append at once.
Result<void> add_line(const std::filesystem::path& path, const std::string& line);
// The line of a key in a keyring.
std::string keyring_line(const KeyId& id, std::string_view name);

}  // namespace epi::hub
