// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/keys.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "epilogue/base/error.h"
#include "epilogue/base/file_lock.h"
#include "epilogue/base/result.h"
#include "epilogue/hub/file_io.h"

namespace epi::hub {
namespace {

constexpr std::string_view kPublic = "ed25519";
constexpr std::string_view kRevoked = "revoked ";
constexpr std::string_view kPrivate = "ed25519-private";
constexpr size_t kKeyBytes = 32;
constexpr size_t kSignatureBytes = 64;
constexpr int64_t kMaxKeyringBytes = 1 << 20;

using EvpKey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using EvpContext = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

const uint8_t* octets(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

std::string to_hex(std::span<const uint8_t> bytes) {
  std::string text;
  for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// Accepts lower case only, so that a file has exactly one valid form.
template <size_t kBytes>
std::optional<std::array<uint8_t, kBytes>> from_hex(std::string_view digits) {
  if (digits.size() != 2 * kBytes) return std::nullopt;
  std::array<uint8_t, kBytes> bytes{};
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (size_t i = 0; i < digits.size(); ++i) {
    const size_t value = kDigits.find(digits[i]);
    if (value == std::string_view::npos) return std::nullopt;
    bytes[i / 2] = static_cast<uint8_t>(bytes[i / 2] << 4 | value);
  }
  return bytes;
}

// Splits a line at spaces into at most `max_words` words. The last one may contain spaces.
std::vector<std::string_view> split_words(std::string_view line, size_t max_words) {
  std::vector<std::string_view> words;
  while (words.size() + 1 < max_words) {
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) break;
    words.push_back(line.substr(0, space));
    line.remove_prefix(space + 1);
  }
  words.push_back(line);
  return words;
}

}  // namespace

PrivateKey::PrivateKey(const Seed& seed) : seed_(seed) {
  const EvpKey key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()),
      EVP_PKEY_free);
  if (key == nullptr) throw std::bad_alloc();
  std::array<uint8_t, kKeyBytes> bytes{};
  size_t size = bytes.size();
  EPI_CHECK(EVP_PKEY_get_raw_public_key(key.get(), bytes.data(), &size) == 1);
  id_ = to_hex(bytes);
}

PrivateKey PrivateKey::generate() {
  Seed seed{};
  if (RAND_priv_bytes(seed.data(), static_cast<int>(seed.size())) != 1) {
    throw Error("[hub] OpenSSL cannot draw random numbers");
  }
  return PrivateKey(seed);
}

Result<PrivateKey> PrivateKey::read(const std::filesystem::path& path) {
  const auto text = read_secret_file(path, 256);
  EPI_TRY(text);
  std::string_view line = *text;
  if (line.ends_with('\n')) line.remove_suffix(1);
  const auto words = split_words(line, 2);
  const auto seed =
      words.size() == 2 && words[0] == kPrivate ? from_hex<kKeyBytes>(words[1]) : std::nullopt;
  if (!seed) {
    return failure("{}: not a private key: expected \"{}\" and 64 hex digits", path.string(),
                   kPrivate);
  }
  return PrivateKey(*seed);
}

std::string PrivateKey::sign(std::string_view bytes) const {
  const EvpKey key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed_.data(), seed_.size()),
      EVP_PKEY_free);
  const EvpContext context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (context == nullptr) throw std::bad_alloc();
  std::array<uint8_t, kSignatureBytes> signature{};
  size_t size = signature.size();
  const bool is_signed =
      key != nullptr &&
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
      EVP_DigestSign(context.get(), signature.data(), &size, octets(bytes), bytes.size()) == 1;
  if (!is_signed) throw Error("[hub] OpenSSL cannot sign: out of memory");
  return fmt::format("{} {} {}\n", kPublic, id_, to_hex(signature));
}

Result<void> PrivateKey::save(const std::filesystem::path& path) const {
  const std::string text = fmt::format("{} {}\n", kPrivate, to_hex(seed_));
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return failure("{}: {}", path.string(), std::strerror(errno));
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  ::close(fd);
  if (!written) {
    ::unlink(path.c_str());
    return failure("{}: {}", path.string(), std::strerror(error));
  }
  return {};
}

Result<Signature> parse_signature(std::string_view text) {
  const auto refused = failure("not a signature: expected one line \"{} KEY SIGNATURE\"", kPublic);
  if (!text.ends_with('\n')) return refused;
  const auto words = split_words(text.substr(0, text.size() - 1), 3);
  const bool valid = words.size() == 3 && words[0] == kPublic && from_hex<kKeyBytes>(words[1]) &&
                     from_hex<kSignatureBytes>(words[2]);
  if (!valid) return refused;
  return Signature{std::string(words[1]), std::string(words[2])};
}

bool is_signature_of(const Signature& signature, std::string_view bytes) {
  const auto key_bytes = from_hex<kKeyBytes>(signature.key);
  const auto digits = from_hex<kSignatureBytes>(signature.digits);
  if (!key_bytes || !digits) return false;
  const EvpKey key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key_bytes->data(), key_bytes->size()),
      EVP_PKEY_free);
  if (key == nullptr) return false;
  const EvpContext context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (context == nullptr) throw std::bad_alloc();
  return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), digits->data(), digits->size(), octets(bytes),
                          bytes.size()) == 1;
}

Result<Keyring> Keyring::parse(std::string_view text, std::string_view path) {
  Keyring keyring;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const bool revoked = line.starts_with(kRevoked);
    const auto words = split_words(revoked ? line.substr(kRevoked.size()) : line, 3);
    if (words.size() < 2 || words[0] != kPublic || !from_hex<kKeyBytes>(words[1])) {
      return failure("{}: line {}: expected \"{} KEY NAME\" with 64 hex digits as KEY", path,
                     number, kPublic);
    }
    if (revoked) {
      keyring.revoked_.emplace(words[1]);
      continue;
    }
    keyring.keys_.push_back(
        {std::string(words[1]), std::string(words.size() == 3 ? words[2] : "")});
  }
  return keyring;
}

Result<Keyring> Keyring::read(std::span<const std::filesystem::path> paths) {
  Keyring all;
  for (const auto& path : paths) {
    if (is_missing(path)) continue;
    const auto text = read_trusted_file(path, kMaxKeyringBytes);
    EPI_TRY(text);
    const auto keyring = parse(*text, path.string());
    EPI_TRY(keyring);
    all.keys_.insert(all.keys_.end(), keyring->keys_.begin(), keyring->keys_.end());
    all.revoked_.insert(keyring->revoked_.begin(), keyring->revoked_.end());
  }
  return all;
}

const Keyring::Key* Keyring::find(const KeyId& id) const {
  const auto found = std::ranges::find(keys_, id, &Key::id);
  return found == keys_.end() ? nullptr : &*found;
}

Result<void> add_line(const std::filesystem::path& path, const std::string& line) {
  EPI_TRY(make_folders(path.parent_path()));
  const auto lock = FileLock::acquire(path);
  EPI_TRY(lock);
  std::string text;
  if (!is_missing(path)) {
    auto existing = read_trusted_file(path, kMaxKeyringBytes);
    EPI_TRY(existing);
    text = std::move(*existing);
  }
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return write_file(path, text + line);
}

std::string keyring_line(const KeyId& id, std::string_view name) {
  return fmt::format("{} {} {}\n", kPublic, id, name);
}

}  // namespace epi::hub
