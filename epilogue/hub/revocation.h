// SPDX-License-Identifier: Apache-2.0
// Revoked keys. A revocation is a line that the key itself has signed, so it needs no other trust,
// and it can be made when the key is made and kept for the day the key is stolen:
//   revoked ed25519 <64 hex digits of the key> <128 hex digits>
// A source lists them in `revoked.txt` in its root folder.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "epilogue/base/result.h"
#include "epilogue/hub/keys.h"

namespace epi::hub {

inline constexpr const char* kRevokedFile = "revoked.txt";
inline constexpr int64_t kMaxRevokedBytes = 1 << 20;

std::string revocation_line(const PrivateKey& key);
// Accepts untrusted input. Refuses a line that was not signed by the key it revokes. `path` is used
// in messages.
Result<std::set<KeyId>> parse_revocations(std::string_view text, std::string_view path);

}  // namespace epi::hub
