// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/revocation.h"

#include <algorithm>

namespace epi::hub {
namespace {

constexpr std::string_view kRevoked = "revoked ";

// What the key signs. It is no JSON, so it cannot be a manifest or an index.
std::string statement(const KeyId& key) { return fmt::format("epilogue revokes {}\n", key); }

}  // namespace

std::string revocation_line(const PrivateKey& key) {
  return std::string(kRevoked) + key.sign(statement(key.id()));
}

Result<std::set<KeyId>> parse_revocations(std::string_view text, std::string_view path) {
  std::set<KeyId> keys;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    if (!line.starts_with(kRevoked)) {
      return failure("{}: line {}: expected \"revoked ed25519 KEY SIGNATURE\"", path, number);
    }
    const auto signature = parse_signature(std::string(line.substr(kRevoked.size())) + "\n");
    if (!signature) return failure("{}: line {}: {}", path, number, signature.error().message);
    if (!is_signature_of(*signature, statement(signature->key))) {
      return failure("{}: line {}: not signed by the key that it revokes", path, number);
    }
    keys.insert(signature->key);
  }
  return keys;
}

}  // namespace epi::hub
