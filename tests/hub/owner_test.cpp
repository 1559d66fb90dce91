// SPDX-License-Identifier: Apache-2.0
// Files that other users may have written are not trusted: keyrings, private keys, the store.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/hub/test_server.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 12345;

mode_t mode_of(const fs::path& path) {
  struct stat status = {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777;
}

bool give_to_stranger(const fs::path& path) { return ::chown(path.c_str(), kStranger, 0) == 0; }

class Owners : public Http {
 protected:
  void SetUp() override {
    Http::SetUp();
    ::setenv("XDG_CONFIG_HOME", (top_ / "config").c_str(), 1);
    write(keyring(), keyring_line(key_.id(), "the test"));
  }
  void TearDown() override {
    ::unsetenv("XDG_CONFIG_HOME");
    Http::TearDown();
  }
  fs::path keyring() const { return top_ / "config/epilogue/keyring"; }
  // The error of settings that use the keyring by its place, or by its name.
  std::string settings_error(bool by_name) const {
    Settings settings;
    if (by_name) settings.keyrings = {keyring()};
    const auto options = make_options(settings);
    return options ? "" : options.error().message;
  }
};

TEST_F(Owners, RefusesKeyringThatOthersCanWriteTo) {
  EXPECT_EQ(settings_error(false), "");
  EXPECT_EQ(settings_error(true), "");
  for (const mode_t mode : {0664, 0646}) {
    ::chmod(keyring().c_str(), mode);
    for (const bool by_name : {false, true}) {
      EXPECT_TRUE(settings_error(by_name).starts_with(keyring().string() + ": not trusted: "))
          << settings_error(by_name);
    }
  }
}

TEST_F(Owners, RefusesKeyringOfAnotherUser) {
  if (!give_to_stranger(keyring())) GTEST_SKIP() << "only root can give files away";
  for (const bool by_name : {false, true}) {
    EXPECT_EQ(settings_error(by_name),
              keyring().string() + ": not trusted: owned by another user (uid 12345)");
  }
  // Nor is a key added to it.
  EXPECT_FALSE(add_line(keyring(), keyring_line(key_.id(), "again")));
}

TEST_F(Owners, RefusesKeyringBehindLink) {
  fs::rename(keyring(), top_ / "elsewhere");
  fs::create_symlink(top_ / "elsewhere", keyring());
  EXPECT_EQ(settings_error(false), "");
  ::chmod((top_ / "elsewhere").c_str(), 0666);
  EXPECT_NE(settings_error(false).find("not trusted"), std::string::npos);
}

TEST_F(Owners, RefusesPrivateKeyThatOthersCanRead) {
  const fs::path path = top_ / "key";
  ASSERT_TRUE(key_.save(path));
  EXPECT_TRUE(PrivateKey::read(path));
  for (const mode_t mode : {0640, 0604}) {
    ::chmod(path.c_str(), mode);
    const auto key = PrivateKey::read(path);
    ASSERT_FALSE(key);
    EXPECT_NE(key.error().message.find("other users can read"), std::string::npos);
  }
}

TEST_F(Owners, CreatesNothingThatOthersCanWriteTo) {
  const mode_t before = ::umask(0);
  const auto resolution = resolve_package();
  const auto added = add_line(top_ / "new/folder/keyring", keyring_line(key_.id(), "the test"));
  const auto locked = add_to_lock(top_ / "epilogue.lock", lock_now().packages);
  Seen seen(top_ / "state/epilogue/hub.json");
  const auto stored = seen.update([](SeenState& state) { state.versions["a/b"] = 1; });
  ::umask(before);
  ASSERT_TRUE(resolution && added && locked && stored);
  EXPECT_EQ(mode_of(cache()), 0700U);
  EXPECT_EQ(mode_of(cache().parent_path()), 0700U);
  EXPECT_EQ(mode_of(resolution->folder / "README"), 0644U);
  EXPECT_EQ(mode_of(top_ / "new/folder"), 0755U);
  EXPECT_EQ(mode_of(top_ / "new/folder/keyring"), 0644U);
  EXPECT_EQ(mode_of(top_ / "epilogue.lock"), 0644U);
  EXPECT_EQ(mode_of(top_ / "state/epilogue"), 0700U);
  EXPECT_EQ(mode_of(top_ / "state/epilogue/hub.json"), 0600U);
}

TEST_F(Owners, RefusesStoreOfOthers) {
  const Lock lock = lock_now();
  ASSERT_TRUE(resolve_package());
  const auto expect_refused = [&](const std::string& why) {
    options_.trust.lock.reset();
    EXPECT_EQ(error().find(cache().string() + ": " + why), 0U) << error();
    EXPECT_NE(error().find("set EPILOGUE_CACHE"), std::string::npos);
    options_.trust.lock = lock;  // nor without a network
    EXPECT_EQ(error().find(cache().string() + ": " + why), 0U) << error();
  };
  ::chmod(cache().c_str(), 0770);
  expect_refused("writable by other users");
  ::chmod(cache().c_str(), 0700);
  if (give_to_stranger(cache())) expect_refused("owned by another user");
  fs::rename(cache(), top_ / "moved");
  fs::create_directory_symlink(top_ / "moved", cache());
  EXPECT_NE(error(), "");
}

// The stored copy of an unsigned package is replaced by one with another manifest.
TEST_F(Owners, RefusesStoredCopyWithAnotherManifest) {
  options_.trust.policy = Policy::kOff;
  const auto first = resolve_package();
  ASSERT_TRUE(first && first->chosen && first->chosen->is_trusted());
  std::string manifest = read(first->folder / "manifest.json");
  manifest.replace(manifest.find("\"MIT\""), 5, "\"BSD\"");
  write(first->folder / "manifest.json", manifest);
  const auto again = resolve_package();
  ASSERT_TRUE(again && again->chosen);
  EXPECT_FALSE(again->chosen->is_trusted());
  EXPECT_NE(refusal_text(*again).find("differs from the one at its source"), std::string::npos);
  // Not even a manifest that cannot be parsed prevents a repair.
  write(first->folder / "manifest.json", "{");
  options_.refetch_damaged = true;
  EXPECT_TRUE(resolve_package()->chosen->is_trusted());
}

}  // namespace
}  // namespace epi::hub
