// SPDX-License-Identifier: Apache-2.0
// The code cache on disk: stored entries are found, and damaged entries are never run.
#include "epilogue/compiler/plan/code_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "epilogue/base/hash.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

namespace fs = std::filesystem;

// A temporary folder, and EPILOGUE_CACHE set to it during its lifetime.
class CacheFolder {
 public:
  CacheFolder() {
    const char* previous = std::getenv("EPILOGUE_CACHE");
    if (previous != nullptr) previous_ = previous;
    path = fs::temp_directory_path() / fmt::format("epilogue_cache_test_{}", ::getpid());
    fs::remove_all(path);
    ::setenv("EPILOGUE_CACHE", path.c_str(), 1);
  }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  ~CacheFolder() {
    fs::remove_all(path);
    previous_ ? ::setenv("EPILOGUE_CACHE", previous_->c_str(), 1) : ::unsetenv("EPILOGUE_CACHE");
  }

  fs::path only_file() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.path().extension() == ".epicode") files.push_back(entry.path());
    }
    EXPECT_EQ(files.size(), 1U);
    return files.front();
  }

  fs::path path;

 private:
  std::optional<std::string> previous_;
};

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// Compiles a small function and checks its result.
VariantInfo compiled_variant() {
  register_cpu_backend();
  const Compiled compiled([](std::span<const Tensor> in) { return mul(in[0], 2.0); }, {}, {});
  const Tensor y = compiled(full({3, 5}, 4));
  for (int64_t i = 0; i < y.numel(); ++i) EXPECT_EQ(y.data<float>()[i], 8);
  return compiled.variants()[0];
}
bool compiled_from_cache() { return compiled_variant().from_cache; }

// The entry, or nothing; a refusal is an error of the test.
std::optional<std::vector<std::byte>> found(const std::string& key) {
  const auto entry = find_cached(key);
  EXPECT_TRUE(entry.has_value());
  return entry.value_or(std::nullopt);
}
std::string refusal(const std::string& key) {
  const auto entry = find_cached(key);
  return entry ? "not refused" : entry.error().message;
}
fs::perms permissions(const fs::path& path) { return fs::symlink_status(path).permissions(); }
constexpr auto kAllForAll = fs::perms::all;

TEST(CodeCache, KeepsEntriesByKey) {
  const CacheFolder folder;
  EXPECT_FALSE(found("a").has_value());
  ASSERT_TRUE(store_cached("a", bytes_of("hello")).has_value());
  ASSERT_TRUE(store_cached("b", bytes_of("")).has_value());
  EXPECT_EQ(found("a"), bytes_of("hello"));
  EXPECT_EQ(found("b"), bytes_of(""));
  EXPECT_EQ(cache_contents().entries, 2);
  std::ofstream(folder.path / "notes.txt") << "mine";
  EXPECT_EQ(clear_cache()->entries, 2);
  EXPECT_EQ(cache_contents().entries, 0);
  EXPECT_TRUE(fs::exists(folder.path / "notes.txt"));
}

TEST(CodeCache, RemovesLeastRecentlyUsedFirst) {
  const CacheFolder folder;
  const std::vector<std::byte> kilobyte(1000);
  const auto age = [&](const char* key, int hours) {
    fs::last_write_time(folder.path / (std::string(key) + ".epicode"),
                        fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(store_cached(key, kilobyte).has_value());
  age("a", 3);
  age("b", 2);
  age("c", 1);
  EXPECT_TRUE(found("a").has_value());  // a hit makes it the newest entry
  ASSERT_TRUE(store_cached("d", kilobyte, 3500).has_value());
  EXPECT_TRUE(found("a").has_value());
  EXPECT_FALSE(found("b").has_value());
  EXPECT_TRUE(found("c").has_value());
  EXPECT_TRUE(found("d").has_value());
}

TEST(CodeCache, RebuildsDamagedEntries) {
  const CacheFolder folder;
  EXPECT_FALSE(compiled_from_cache());
  EXPECT_TRUE(compiled_from_cache());
  const fs::path file = folder.only_file();
  const auto size = fs::file_size(file);
  for (const uintmax_t cut :
       {uintmax_t{0}, uintmax_t{10}, uintmax_t{79}, uintmax_t{80}, size - 1}) {
    fs::resize_file(file, cut);
    EXPECT_FALSE(compiled_from_cache()) << "cut to " << cut;
    EXPECT_TRUE(compiled_from_cache());
  }
  for (uintmax_t place = 0; place < size; place += 97) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(place));
    const auto byte = static_cast<char>(stream.get() ^ 0x40);
    stream.seekp(static_cast<std::streamoff>(place));
    stream.put(byte);
    stream.close();
    EXPECT_FALSE(compiled_from_cache()) << "byte " << place;
  }
  fs::remove(file);
  EXPECT_FALSE(compiled_from_cache());
  EXPECT_TRUE(compiled_from_cache());
}

TEST(CodeCache, IgnoresRenamedEntries) {
  const CacheFolder folder;
  ASSERT_TRUE(store_cached("a", bytes_of("hello")).has_value());
  fs::rename(folder.path / "a.epicode", folder.path / "b.epicode");
  EXPECT_FALSE(found("b").has_value());
}

TEST(CodeCache, RebuildsEntriesWithoutCode) {
  const CacheFolder folder;
  EXPECT_FALSE(compiled_from_cache());
  const std::string key = folder.only_file().stem();
  ASSERT_TRUE(store_cached(key, bytes_of("not code at all")).has_value());
  EXPECT_FALSE(compiled_from_cache());
  EXPECT_TRUE(compiled_from_cache());
}

TEST(CodeCache, ReportsUncreatableDirectory) {
  const CacheFolder folder;
  std::ofstream(folder.path) << "a file";
  register_cpu_backend();
  const Compiled compiled([](std::span<const Tensor> in) { return neg(in[0]); }, {}, {});
  EXPECT_EQ(compiled(full({2, 2}, 1)).data<float>()[0], -1);
  EXPECT_NE(compiled.variants()[0].cache_error.find(folder.path.string()), std::string::npos);
  EXPECT_FALSE(compiled_from_cache());
}

// With a umask of 0, everything would be open to all users.
TEST(CodeCache, IsPrivateWhateverTheUmask) {
  const CacheFolder folder;
  ::setenv("EPILOGUE_CACHE", (folder.path / "a" / "b").c_str(), 1);
  const mode_t before = ::umask(0);
  ASSERT_TRUE(store_cached("k", bytes_of("hello")).has_value());
  ::umask(before);
  for (const char* name : {"", "a", "a/b"}) {
    EXPECT_EQ(permissions(folder.path / name), fs::perms::owner_all) << name;
  }
  for (const char* name : {"a/b/k.epicode", "a/b/key"}) {
    EXPECT_EQ(permissions(folder.path / name), fs::perms::owner_read | fs::perms::owner_write);
  }
  EXPECT_EQ(found("k"), bytes_of("hello"));
}

TEST(CodeCache, RefusesWhatOthersCanWrite) {
  const CacheFolder folder;
  EXPECT_FALSE(compiled_from_cache());
  for (const fs::path& path : {folder.path, folder.only_file(), folder.path / "key"}) {
    const auto before = permissions(path);
    fs::permissions(path, kAllForAll);
    const VariantInfo variant = compiled_variant();
    EXPECT_FALSE(variant.from_cache) << path;
    EXPECT_NE(variant.cache_error.find(path.string() + ": writable by other users"),
              std::string::npos)
        << variant.cache_error;
    fs::permissions(path, before);
    if (path == folder.path) continue;  // the entry was replaced
    EXPECT_TRUE(compiled_from_cache());
  }
}

TEST(CodeCache, RefusesWhatAnotherUserOwns) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t kNobody = 65534;
  const CacheFolder folder;
  ASSERT_TRUE(store_cached("a", bytes_of("hello")).has_value());
  for (const fs::path& path : {folder.path / "a.epicode", folder.path / "key", folder.path}) {
    ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
    EXPECT_EQ(refusal("a"), path.string() + ": owned by another user (uid 65534)");
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(found("a"), bytes_of("hello"));
}

TEST(CodeCache, RefusesLinks) {
  const CacheFolder folder;
  ASSERT_TRUE(store_cached("a", bytes_of("hello")).has_value());
  fs::create_symlink("a.epicode", folder.path / "b.epicode");
  EXPECT_EQ(refusal("b"), (folder.path / "b.epicode").string() + ": a symbolic link");
}

// Whoever can compute a hash must not be able to make an entry.
TEST(CodeCache, IgnoresEntriesWithoutTheUsersKey) {
  const CacheFolder folder;
  ASSERT_TRUE(store_cached("a", bytes_of("hello")).has_value());
  std::ofstream(folder.path / "a.epicode", std::ios::binary)
      << "epilogue code 3\n"
      << sha256("a" + sha256("evil")) << "evil";
  EXPECT_FALSE(found("a").has_value());
  // An entry that was made with another key.
  ASSERT_TRUE(store_cached("a", bytes_of("hello")).has_value());
  std::ofstream(folder.path / "key", std::ios::binary) << std::string(32, 'k');
  EXPECT_FALSE(found("a").has_value());
  fs::remove(folder.path / "key");
  EXPECT_FALSE(found("a").has_value());
  ASSERT_TRUE(store_cached("a", bytes_of("hello")).has_value());
  EXPECT_EQ(found("a"), bytes_of("hello"));
}

TEST(CodeCache, EmptyVariableDisablesCache) {
  const CacheFolder folder;
  ::setenv("EPILOGUE_CACHE", "", 1);
  EXPECT_FALSE(cache_folder().has_value());
  EXPECT_FALSE(compiled_from_cache());
  EXPECT_FALSE(compiled_from_cache());
}

}  // namespace
}  // namespace epi::compiler
