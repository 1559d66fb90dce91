// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "epilogue/base/folder_names.h"
#include "epilogue/base/hash.h"
#include "epilogue/base/result.h"
#include "epilogue/base/temporary_folder.h"
#include "epilogue/compiler/plan/code_cache.h"
#include "epilogue/hub/file_io.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporary = ".fetch-";
constexpr auto kStaleAfter = std::chrono::hours(24);  // older folders were left by dead processes

std::optional<fs::path> store_path() {
  const auto cache = compiler::cache_folder();
  return cache ? std::optional(*cache / "hub") : std::nullopt;
}

// What to do about a store that other users may have written to.
std::string advice_for(const std::string& error) {
  return error + "; remove the folder, or set EPILOGUE_CACHE to a folder of your own";
}

Result<fs::path> make_store() {
  const auto store = store_path();
  if (!store) return failure("there is no cache folder to store packages in: set EPILOGUE_CACHE");
  const auto made = make_private_folder(*store);
  if (!made) return failure("{}", advice_for(made.error().message));
  return *store;
}

void remove_stale(const fs::path& store) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (const std::string& name : folder_names(store, error)) {
    if (!name.starts_with(kTemporary)) continue;
    std::error_code gone;
    const auto written = fs::last_write_time(store / name, gone);
    if (!gone && now - written > kStaleAfter) fs::remove_all(store / name, gone);
  }
}

struct SignedManifest {
  std::string manifest;
  std::optional<std::string> signature;  // the trust policy handles a missing one
};
Result<SignedManifest> fetch_manifest(const Source& source, const VariantName& name) {
  const std::string from = path_of(name);
  auto manifest = source.read(from + "/manifest.json", kMaxManifestBytes);
  EPI_TRY(manifest);
  auto signature = source.find(from + "/manifest.sig", kMaxSignatureBytes, nullptr);
  EPI_TRY(signature);
  return SignedManifest{std::move(*manifest), std::move(*signature)};
}

Result<void> fetch_files(const Source& source, const VariantName& name,
                         const SignedManifest& signed_manifest, const Manifest& manifest,
                         const fs::path& to, const FetchProgress& progress) {
  for (const auto& [path, entry] : manifest.files) {
    const std::string from = fmt::format("{}/{}", path_of(name), path);
    const auto bytes = source.read(from, entry.bytes, progress);
    EPI_TRY(bytes);
    if (static_cast<int64_t>(bytes->size()) != entry.bytes) {
      return failure("{}/{}: received {} bytes, the manifest lists {}", source.name(), from,
                     bytes->size(), entry.bytes);
    }
    EPI_TRY(write_file(to / path, *bytes));
  }
  EPI_TRY(write_file(to / "manifest.json", signed_manifest.manifest));
  return signed_manifest.signature ? write_file(to / "manifest.sig", *signed_manifest.signature)
                                   : Result<void>();
}

// Renames the complete folder to `to`. Another process may have created the same folder first. With
// `replace`, the existing folder and ours are swapped atomically.
Result<void> move_into_place(const TemporaryFolder& from, const fs::path& to, bool replace) {
  const auto rename = [&](unsigned flags) {
    return ::renameat2(AT_FDCWD, from.path().c_str(), AT_FDCWD, to.c_str(), flags) == 0;
  };
  if (replace && rename(RENAME_EXCHANGE)) return {};
  if (rename(0)) return {};
  std::error_code ignored;
  if (fs::is_directory(to, ignored) && !replace) return {};
  return failure("{}: cannot move the fetched package here", to.string());
}

// A manifest from a server must not be older than the newest one of this variant. Only signed ones
// count, and those that a lock pins may be older.
void check_released(const VariantName& name, const Trust& trust, CheckedManifest& checked) {
  const std::string released = checked.manifest->released.value_or("");
  const std::string variant = text_of(name);
  const bool may_be_older =
      trust.allow_downgrade || trust.find_locked(name.package, name.version) != nullptr;
  const auto manifests = trust.seen->state().manifests;
  const auto seen = manifests.find(variant);
  const bool older = seen != manifests.end() && released < seen->second;
  if (older && !may_be_older) {
    checked.violations.push_back(fmt::format(
        "manifest.json: released {}, but one released {} was seen before: use an existing lock, or "
        "allow_downgrade to accept the older one",
        released.empty() ? "at an unknown time" : released, seen->second));
  }
  if (released.empty() || (older && !trust.allow_downgrade)) return;
  const auto stored = trust.seen->update([&](SeenState& state) {
    std::string& newest = state.manifests[variant];
    newest = trust.allow_downgrade ? released : std::max(newest, released);
  });
  if (!stored) {
    checked.warnings.push_back("the release is not remembered: " + stored.error().message);
  }
}

CheckedManifest check_fetched(const Source& source, const VariantName& name,
                              const SignedManifest& fetched, const Trust& trust) {
  CheckedManifest checked = check_manifest(name, fetched.manifest, fetched.signature, trust);
  const bool is_remembered = source.is_remote() && trust.remembers(checked.key);
  if (is_remembered && checked.violations.empty()) check_released(name, trust, checked);
  return checked;
}

// Checks a copy of the variant whose manifest was just fetched. The copy's manifest must be the
// same, even if it is not signed.
CheckedVariant check_copy(const VariantName& name, const fs::path& folder,
                          const CheckedManifest& listed, const Trust& trust) {
  CheckedVariant variant = check_variant(name, folder, trust);
  if (variant.checked.sha256 != listed.sha256) {
    variant.checked.violations.push_back(
        fmt::format("{}: manifest.json differs from the one at its source", folder.string()));
  }
  variant.checked.warnings = listed.warnings;
  return variant;
}

}  // namespace

Result<std::vector<fs::path>> stored_folders(const std::string& manifest_sha256) {
  std::vector<fs::path> folders;
  const auto store = store_path();
  std::error_code error;
  if (!store || is_missing(*store)) return folders;
  if (const auto why = folder_error(*store); !why.empty()) {
    return failure("{}: {}", store->string(), advice_for(why));
  }
  for (const std::string& name : folder_names(*store, error)) {
    if (name.starts_with(manifest_sha256 + "-")) folders.push_back(*store / name);
  }
  return folders;
}

Result<CheckedManifest> read_manifest(const Source& source, const VariantName& name,
                                      const Trust& trust) {
  const auto signed_manifest = fetch_manifest(source, name);
  EPI_TRY(signed_manifest);
  return check_fetched(source, name, *signed_manifest, trust);
}

Result<Fetched> fetch_variant(const Source& source, const VariantName& name, const Trust& trust,
                              bool refetch_damaged, const FetchProgress& progress) {
  const auto signed_manifest = fetch_manifest(source, name);
  EPI_TRY(signed_manifest);
  const CheckedManifest listed = check_fetched(source, name, *signed_manifest, trust);
  Fetched fetched{{listed, {}}, {}};
  if (!fetched.variant.is_trusted()) return fetched;
  const auto store = make_store();
  EPI_TRY(store);
  remove_stale(*store);
  const std::string signer =
      signed_manifest->signature ? sha256(*signed_manifest->signature).substr(0, 16) : "unsigned";
  fetched.folder = *store / fmt::format("{}-{}", listed.sha256, signer);
  std::error_code error;
  const bool stored = fs::is_directory(fetched.folder, error);
  if (stored) {
    fetched.variant = check_copy(name, fetched.folder, listed, trust);
    if (fetched.variant.is_trusted() || !refetch_damaged) return fetched;
  }
  const auto temporary = TemporaryFolder::make(*store, kTemporary);
  EPI_TRY(temporary);
  EPI_TRY(
      fetch_files(source, name, *signed_manifest, *listed.manifest, temporary->path(), progress));
  fetched.variant = check_copy(name, temporary->path(), listed, trust);
  if (!fetched.variant.is_trusted()) return fetched;
  EPI_TRY(move_into_place(*temporary, fetched.folder, stored));
  return fetched;
}

}  // namespace epi::hub
