// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/hugging_face.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "epilogue/base/error.h"
#include "epilogue/base/folder_names.h"
#include "epilogue/hub/file_io.h"
#include "epilogue/hub/json_fields.h"
#include "epilogue/hub/trust.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxMetadataBytes = 16 << 20;
constexpr int64_t kMaxHfFileBytes = int64_t{4} << 30;

// The digest in base64, as in metadata.json.
std::string digest_of(std::string_view bytes, const EVP_MD* algorithm) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EPI_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, algorithm, nullptr) == 1);
  std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> text{};
  const int length = EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(size));
  return {reinterpret_cast<const char*>(text.data()), static_cast<size_t>(length)};
}

struct Digest {
  std::string algorithm;
  std::map<std::string, std::string> files;
};

std::optional<Digest> read_metadata(const JsonField& root, HuggingFaceVariant& variant) {
  if (const auto name = root.find("name"); name && !name->is_null()) variant.name = name->text();
  if (const auto version = root.find("version"); version && !version->is_null()) {
    variant.version = version->integer();
  }
  if (const auto license = root.find("license"); license && !license->is_null()) {
    variant.license = license->text();
  }
  if (const auto backend = root.find("backend"); backend && !backend->is_null()) {
    variant.backend = backend->at("type").text();
    const auto archs = backend->find("archs");
    for (const JsonField& item : archs ? archs->items() : std::vector<JsonField>()) {
      variant.archs.push_back(item.text());
    }
  }
  const auto field = root.find("digest");
  if (!field || field->is_null()) return std::nullopt;
  Digest digest{field->at("algorithm").text(), {}};
  if (digest.algorithm != "sha256" && digest.algorithm != "sha512") {
    field->at("algorithm").refuse("must be sha256 or sha512");
  }
  for (const auto& [path, hash] : field->at("files").members()) digest.files[path] = hash.text();
  return digest;
}

bool is_outside_digest(const std::string& path) {
  return path == "metadata.json" || path == "metadata.json.sigstore" || path.ends_with(".pyc") ||
         path.starts_with("__pycache__/") || path.find("/__pycache__/") != std::string::npos;
}

// The repository's root folder. In the Hugging Face cache, files of a snapshot are links to
// `blobs/` next to `snapshots/`, so links may point anywhere within the repository.
fs::path repository_of(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(folder, error);
  for (fs::path at = whole; at.has_relative_path(); at = at.parent_path()) {
    if (at.filename() == "snapshots") return at.parent_path();
  }
  // build/<variant>
  return whole.parent_path().parent_path();
}

Result<std::string> read_linked(const fs::path& folder, const std::string& path,
                                int64_t max_bytes) {
  std::error_code error;
  const fs::path target = fs::canonical(folder / path, error);
  if (error) return failure("{}: {}", path, error.message());
  const fs::path inside = target.lexically_relative(repository_of(folder));
  if (inside.empty() || *inside.begin() == "..") {
    return failure("{}: leads outside the repository folder", path);
  }
  return read_user_file(target, max_bytes);
}

void check_digest(const fs::path& folder, const Digest& digest, HuggingFaceVariant& variant) {
  const EVP_MD* algorithm = digest.algorithm == "sha256" ? EVP_sha256() : EVP_sha512();
  for (const auto& [path, expected] : digest.files) {
    std::error_code ignored;
    const auto bytes = read_linked(folder, path, kMaxHfFileBytes);
    if (!bytes && !fs::exists(fs::symlink_status(folder / path, ignored))) {
      variant.violations.push_back(fmt::format("{}: missing", path));
    } else if (!bytes) {
      variant.violations.push_back(bytes.error().message);
    } else if (const std::string actual = digest_of(*bytes, algorithm); actual != expected) {
      variant.violations.push_back(fmt::format("{}: {} is {}, the digest lists {}", path,
                                               digest.algorithm, actual, expected));
    }
  }
  const auto present = list_files(folder);
  if (!present) {
    variant.violations.push_back(present.error().message);
    return;
  }
  for (const std::string& path : *present) {
    if (!digest.files.contains(path) && !is_outside_digest(path)) {
      variant.violations.push_back(fmt::format("{}: not in the digest", path));
    }
  }
}

HuggingFaceVariant read_variant(const fs::path& folder) {
  HuggingFaceVariant variant;
  variant.variant = folder.filename().string();
  std::error_code ignored;
  variant.has_bundle = fs::exists(folder / "metadata.json.sigstore", ignored);
  const auto text = read_linked(folder, "metadata.json", kMaxMetadataBytes);
  if (!text) {
    variant.violations.push_back(text.error().message);
    return variant;
  }
  const auto digest = read_json(
      *text, "metadata.json", [&](const JsonField& root) { return read_metadata(root, variant); });
  if (!digest) {
    variant.violations.push_back(digest.error().message);
  } else if (!*digest) {
    variant.violations.emplace_back("metadata.json: no digest, the files cannot be checked");
  } else {
    variant.algorithm = (*digest)->algorithm;
    check_digest(folder, **digest, variant);
  }
  return variant;
}

std::vector<fs::path> variant_folders(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const std::string& name : folder_names(folder / "build", error)) {
    const fs::path path = folder / "build" / name;
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) found.push_back(path);
  }
  return found;
}

}  // namespace

bool is_hugging_face(const fs::path& folder) {
  return std::ranges::any_of(variant_folders(folder), [](const fs::path& variant) {
    std::error_code ignored;
    return fs::exists(variant / "metadata.json", ignored);
  });
}

Result<std::vector<HuggingFaceVariant>> read_hugging_face(const fs::path& folder) {
  std::vector<HuggingFaceVariant> variants;
  for (const fs::path& path : variant_folders(folder)) variants.push_back(read_variant(path));
  if (variants.empty())
    return failure("{}: there is no build/<variant>/metadata.json", folder.string());
  return variants;
}

}  // namespace epi::hub
