// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/store.h"

#include <unistd.h>

#include <atomic>

#include "epilogue/compile/code_cache.h"
#include "epilogue/hub/file_io.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostSignatureBytes = 1024;

// A folder beside the others that is gone at the end of the scope, unless it was renamed.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path& beside) {
    static std::atomic<int> count{0};
    path_ = beside.parent_path() / fmt::format(".fetch-{}-{}", ::getpid(), count++);
    fs::create_directories(path_, error_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }
  const std::error_code& error() const { return error_; }

 private:
  fs::path path_;
  std::error_code error_;
};

// A missing signature is the policy's business.
Result<std::optional<std::string>> read_signature(const Source& source, const std::string& folder,
                                                  const Trust& trust) {
  if (trust.policy == Policy::kOff) return std::optional<std::string>();
  return source.find(folder + "/manifest.sig", kMostSignatureBytes, nullptr);
}

Result<void> write_signature(const fs::path& folder, const std::optional<std::string>& signature) {
  if (!signature) return {};
  return write_file(folder / "manifest.sig", *signature);
}

struct Arriving {
  const Source& source;
  std::string from;
  const std::string& manifest;
  const std::optional<std::string>& signature;
};

Result<void> fetch_files(const Arriving& arriving, const Manifest& manifest, const fs::path& to,
                         const FetchProgress& progress) {
  for (const auto& [path, entry] : manifest.files) {
    const std::string from = fmt::format("{}/{}", arriving.from, path);
    const auto bytes = arriving.source.read(from, entry.bytes, progress);
    if (!bytes) return tl::unexpected(bytes.error());
    if (static_cast<int64_t>(bytes->size()) != entry.bytes) {
      return failure("{}/{}: {} bytes came, the manifest says {}", arriving.source.name(), from,
                     bytes->size(), entry.bytes);
    }
    if (auto done = write_file(to / path, *bytes); !done) return done;
  }
  if (auto done = write_file(to / "manifest.json", arriving.manifest); !done) return done;
  return write_signature(to, arriving.signature);
}

bool is_whole(const VariantName& name, const fs::path& folder, const Trust& trust) {
  const auto variant = check_variant(name, folder, trust);
  return variant && variant->is_trusted();
}

// Moves the finished folder to its place, where another process may have been first.
Result<void> put_in_place(const TemporaryFolder& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from.path(), to, error);
  std::error_code ignored;
  if (error && !fs::is_directory(to, ignored)) {
    return failure("{}: {}", to.string(), error.message());
  }
  return {};
}

}  // namespace

std::optional<fs::path> stored_folder(const std::string& manifest_sha256) {
  const auto cache = compiler::cache_folder();
  if (!cache) return std::nullopt;
  return *cache / "hub" / manifest_sha256;
}

Result<CheckedManifest> read_manifest(const Source& source, const VariantName& name,
                                      const Trust& trust) {
  const std::string from = path_of(name);
  const auto manifest = source.read(from + "/manifest.json", kMostManifestBytes);
  if (!manifest) return tl::unexpected(manifest.error());
  const auto signature = read_signature(source, from, trust);
  if (!signature) return tl::unexpected(signature.error());
  return check_manifest(name, *manifest, *signature, trust);
}

Result<Fetched> fetch_variant(const Source& source, const VariantName& name, const Trust& trust,
                              bool again, const FetchProgress& progress) {
  const std::string from = path_of(name);
  const auto manifest = source.read(from + "/manifest.json", kMostManifestBytes);
  if (!manifest) return tl::unexpected(manifest.error());
  const auto signature = read_signature(source, from, trust);
  if (!signature) return tl::unexpected(signature.error());
  Fetched fetched{{}, check_manifest(name, *manifest, *signature, trust)};
  if (!fetched.checked.violations.empty()) return fetched;
  const auto folder = stored_folder(fetched.checked.sha256);
  if (!folder) {
    return failure("{}: a cache folder is needed, and EPILOGUE_CACHE is empty", source.name());
  }
  fetched.folder = *folder;
  std::error_code error;
  if (again && fs::is_directory(*folder, error) && !is_whole(name, *folder, trust)) {
    const TemporaryFolder damaged(*folder);
    fs::rename(*folder, damaged.path() / "damaged", error);
    if (error) return failure("{}: {}", folder->string(), error.message());
  }
  if (fs::is_directory(*folder, error)) {
    // The same manifest may have been signed anew.
    if (auto done = write_signature(*folder, *signature); !done)
      return tl::unexpected(done.error());
    return fetched;
  }
  const TemporaryFolder temporary(*folder);
  if (temporary.error()) {
    return failure("{}: {}", temporary.path().string(), temporary.error().message());
  }
  const Arriving arriving{source, from, *manifest, *signature};
  if (auto done = fetch_files(arriving, *fetched.checked.manifest, temporary.path(), progress);
      !done) {
    return tl::unexpected(done.error());
  }
  auto arrived = check_variant(name, temporary.path(), trust);
  if (!arrived) return tl::unexpected(arrived.error());
  fetched.checked = std::move(arrived->checked);
  if (!fetched.checked.violations.empty()) return fetched;
  if (auto done = put_in_place(temporary, *folder); !done) return tl::unexpected(done.error());
  return fetched;
}

}  // namespace epi::hub
