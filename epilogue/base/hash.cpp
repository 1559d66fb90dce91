// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "epilogue/base/error.h"

namespace epi {

namespace {

std::string to_hex(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace

std::string sha256(std::span<const std::byte> bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  // The first call loads the algorithm, which fails if memory runs out.
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw Error("[sha256] OpenSSL cannot compute SHA-256: out of memory, or disabled");
  }
  return to_hex(std::span(digest).first(size));
}

std::string hmac_sha256(std::span<const std::byte> key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, text.size(),
           digest.data(), &size) == nullptr) {
    throw Error("[hmac_sha256] OpenSSL cannot compute HMAC: out of memory, or disabled");
  }
  return to_hex(std::span(digest).first(size));
}

std::string sha256(std::string_view text) { return sha256(std::as_bytes(std::span(text))); }

}  // namespace epi
