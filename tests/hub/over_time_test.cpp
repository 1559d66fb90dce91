// SPDX-License-Identifier: Apache-2.0
// What a server cannot do over time: return to an older release, hide a newer version, serve an
// expired package, or hide that a key was revoked.
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>

#include "epilogue/hub/package_index.h"
#include "epilogue/hub/revocation.h"
#include "epilogue/hub/store.h"
#include "epilogue/hub/utc_time.h"
#include "tests/hub/test_server.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

class OverTime : public Http {
 protected:
  void SetUp() override {
    Http::SetUp();
    options_.trust.seen = std::make_shared<Seen>(state_file());
  }
  void TearDown() override {
    ::unsetenv("SOURCE_DATE_EPOCH");
    Http::TearDown();
  }
  fs::path state_file() const { return top_ / "state/epilogue/hub.json"; }
  // Builds and signs the package as if it were `day` days after 1970.
  void release(int day, std::optional<std::string> expires = std::nullopt) const {
    ::setenv("SOURCE_DATE_EPOCH", std::to_string(day * 86'400).c_str(), 1);
    for (const char* variant : {kBaseline, kOther}) {
      AssembleOptions options{top_ / "source/recipe.json", variant, "", packages()};
      options.expires = expires;
      const auto name = assemble(options);
      ASSERT_TRUE(name) << name.error().message;
    }
    sign();
  }
  // Another version of the package, which is a copy of the first.
  void release_version_2() const {
    std::string recipe = kRecipe;
    recipe.replace(recipe.find("\"version\": 1"), 12, "\"version\": 2");
    write(top_ / "source/recipe2.json", recipe);
    ASSERT_TRUE(assemble({top_ / "source/recipe2.json", kBaseline, "", packages()}));
    sign();
  }
  // A new process: only what is on disk is known.
  void restart() {
    options_.trust.seen = std::make_shared<Seen>(state_file());
    const auto loaded = options_.trust.seen->load();
    ASSERT_TRUE(loaded) << loaded.error().message;
  }
  std::string refusal() const {
    const auto resolution = resolve_package();
    if (!resolution) return "failed: " + resolution.error().message;
    EXPECT_TRUE(resolution->chosen);
    return refusal_text(*resolution);
  }
  std::vector<std::string> warnings() const {
    const auto resolution = resolve_package();
    EXPECT_TRUE(resolution && resolution->chosen && resolution->chosen->is_trusted());
    return resolution ? resolution->chosen->checked.warnings : std::vector<std::string>();
  }
  // Restores the manifests of a release, but not its index.
  void replay_manifests(const fs::path& old) const {
    fs::copy(old / "test", packages() / "test",
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }
  void keep(const fs::path& to) const { fs::copy(packages(), to, fs::copy_options::recursive); }
  void replay(const fs::path& old) const {
    fs::remove_all(packages());
    fs::copy(old, packages(), fs::copy_options::recursive);
  }
};

TEST_F(OverTime, RefusesOlderManifest) {
  release(100);
  keep(top_ / "old");
  EXPECT_EQ(refusal(), "");
  release(200);
  EXPECT_EQ(refusal(), "");
  restart();
  replay_manifests(top_ / "old");
  options_.trust.policy = Policy::kOff;
  EXPECT_EQ(refusal(), "");
  options_.trust.policy = Policy::kRequire;
  EXPECT_EQ(refusal(),
            "test/one@1: refused:\n  manifest.json: released 1970-04-11T00:00:00Z, but one "
            "released 1970-07-20T00:00:00Z was seen before: use an existing lock, or "
            "allow_downgrade to "
            "accept the older one");
  // Neither does `hub lock` accept it. A lock that pins it does.
  const auto located = locate({"test/one", 1}, options_);
  ASSERT_TRUE(located);
  const auto checked = read_manifest(*located->source, {"test/one", 1, kBaseline}, options_.trust);
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->violations.size(), 1U);
  options_.trust.lock = lock_now();
  EXPECT_EQ(refusal(), "");
  options_.trust.lock.reset();
  EXPECT_NE(refusal(), "");
  // Accepted once, it is the newest.
  options_.trust.allow_downgrade = true;
  EXPECT_EQ(refusal(), "");
  options_.trust.allow_downgrade = false;
  EXPECT_EQ(refusal(), "");
}

TEST_F(OverTime, RefusesManifestWithoutTimeAfterOneWithTime) {
  EXPECT_EQ(refusal(), "");
  std::string manifest = read(folder() / "manifest.json");
  const size_t from = manifest.find("\"released\"");
  manifest.erase(from, manifest.find('\n', from) - from);
  write(folder() / "manifest.json", manifest);
  write(folder() / "manifest.sig", key_.sign(manifest));
  EXPECT_NE(refusal().find("released at an unknown time, but one released "), std::string::npos);
}

TEST_F(OverTime, RefusesOlderIndex) {
  release(100);
  keep(top_ / "old");
  release(200);
  EXPECT_EQ(refusal(), "");
  restart();
  replay(top_ / "old");
  EXPECT_NE(refusal().find("packages.json: released 1970-04-11T00:00:00Z, but one released"),
            std::string::npos)
      << refusal();
}

// The index is newer and signed, but lacks a version that was seen before.
TEST_F(OverTime, RefusesIndexThatHidesVersion) {
  release(100);
  release_version_2();
  EXPECT_EQ(refusal(), "");  // version 1 may be used although version 2 exists
  restart();
  fs::remove_all(packages() / "test/one/v2");
  release(200);
  EXPECT_EQ(refusal(),
            "test/one@1: refused:\n  packages.json: the newest version of test/one is 1, but "
            "version 2 was seen before: use an existing lock, or allow_downgrade to accept it");
  options_.trust.lock = lock_now();
  EXPECT_EQ(refusal(), "");
  options_.trust.lock.reset();
  options_.trust.allow_downgrade = true;
  EXPECT_EQ(refusal(), "");
}

// A folder has what its owner put there.
TEST_F(OverTime, DoesNotRememberFolders) {
  options_.sources = {packages().string()};
  release(200);
  EXPECT_EQ(refusal(), "");
  release(100);
  EXPECT_EQ(refusal(), "");
  EXPECT_FALSE(fs::exists(state_file()));
}

// Nobody can make a user refuse later releases without a trusted key.
TEST_F(OverTime, RemembersOnlyTrustedSigners) {
  options_.trust.policy = Policy::kWarn;
  options_.trust.keyring = Keyring();
  release(200);
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(options_.trust.seen->state(), SeenState());
}

TEST_F(OverTime, WarnsIfNothingCanBeRemembered) {
  options_.trust.seen = std::make_shared<Seen>("/dev/null/epilogue/hub.json");
  const auto all = warnings();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_NE(all[0].find("not remembered: /dev/null"), std::string::npos) << all[0];
}

TEST_F(OverTime, RefusesUntrustedOrDamagedState) {
  EXPECT_EQ(refusal(), "");
  Seen seen(state_file());
  EXPECT_TRUE(seen.load());
  ::chmod(state_file().c_str(), 0666);
  EXPECT_FALSE(seen.load());
  ::chmod(state_file().c_str(), 0600);
  write(state_file(), "{\"schema\": 1");
  const auto damaged = seen.load();
  ASSERT_FALSE(damaged);
  EXPECT_TRUE(damaged.error().message.starts_with(state_file().string() + ": not valid JSON"));
}

TEST_F(OverTime, RefusesExpiredPackage) {
  release(100, "1970-12-31T00:00:00Z");
  const std::string why =
      "manifest.json: expired 1970-12-31T00:00:00Z: its publisher must release it again";
  EXPECT_EQ(refusal(), "test/one@1: refused:\n  " + why);
  EXPECT_EQ(violations(), std::vector<std::string>{why});  // in a folder, too
  options_.trust.policy = Policy::kWarn;
  EXPECT_EQ(check().checked.warnings, std::vector<std::string>{why});
  options_.trust.policy = Policy::kRequire;
  release(200, "9999-12-31T00:00:00Z");
  EXPECT_EQ(refusal(), "");
}

TEST_F(OverTime, RefusesExpiredIndex) {
  ASSERT_TRUE(write_index(packages(), &key_, "2001-01-01T00:00:00Z"));
  EXPECT_NE(refusal().find("packages.json: expired 2001-01-01T00:00:00Z"), std::string::npos);
}

TEST_F(OverTime, RequiresSignedIndex) {
  fs::remove(packages() / "packages.sig");
  const std::string missing =
      "packages.sig: missing: the index is not signed: its publisher must run `epilogue hub index`";
  EXPECT_EQ(refusal(), "test/one@1: refused:\n  " + missing);
  options_.trust.policy = Policy::kWarn;
  EXPECT_EQ(warnings(), std::vector<std::string>{missing});
  options_.trust.policy = Policy::kOff;
  EXPECT_EQ(warnings(), std::vector<std::string>());
  options_.trust.policy = Policy::kRequire;
  options_.trust.lock = lock_now();  // pins all that an index could list
  EXPECT_EQ(refusal(), "");
  // A changed index is refused before it is parsed.
  options_.trust.lock.reset();
  sign();
  write(packages() / "packages.json", "{");
  EXPECT_NE(refusal().find("packages.sig: not a valid signature of packages.json"),
            std::string::npos);
  options_.trust.policy = Policy::kWarn;
  EXPECT_NE(refusal().find("packages.sig: not a valid signature of packages.json"),
            std::string::npos);
}

// A package that is refused for its source's index is refused for trust: exit code 1.
TEST_F(OverTime, ToolExitsWith1ForUnsignedIndex) {
  ::setenv("EPILOGUE_HUB_TIMEOUT", "20", 1);
  write(top_ / "keyring", keyring_line(key_.id(), "the test"));
  const std::string tool = fs::read_symlink("/proc/self/exe").parent_path() / "epilogue";
  const auto exit_code = [&](const std::string& command) {
    const std::string line =
        fmt::format("cd {} && {} hub {} --source {} --keyring keyring >out 2>&1", top_.string(),
                    tool, command, address());
    return WEXITSTATUS(std::system(line.c_str()));
  };
  const char* kCommands[] = {"list",
                             "info test/one@1",
                             "verify test/one@1",
                             "lock test/one@1",
                             "why test/one@1 --device cpu",
                             "get test/one@1 --device cpu"};
  for (const char* command : kCommands) {
    if (std::string_view(command).find("--device") == std::string_view::npos) {
      EXPECT_EQ(exit_code(command), 0) << command << ": " << read(top_ / "out");
    }
  }
  fs::remove(top_ / "epilogue.lock");
  fs::remove(packages() / "packages.sig");
  for (const char* command : kCommands) {
    EXPECT_EQ(exit_code(command), 1) << command;
    EXPECT_NE(read(top_ / "out").find("the index is not signed"), std::string::npos)
        << command << ": " << read(top_ / "out");
  }
}

TEST_F(OverTime, BuildRemovesSignatureOfOldIndex) {
  EXPECT_TRUE(fs::exists(packages() / "packages.sig"));
  build(kBaseline);
  EXPECT_FALSE(fs::exists(packages() / "packages.sig"));
}

TEST_F(OverTime, RefusesRevokedKeyAndRemembersIt) {
  EXPECT_EQ(refusal(), "");
  const Lock lock = lock_now();
  write(packages() / "revoked.txt", revocation_line(key_));
  const std::string why = fmt::format("signed by {}, which is revoked", key_.id());
  EXPECT_NE(refusal().find(why), std::string::npos) << refusal();
  options_.trust.policy = Policy::kWarn;
  EXPECT_NE(refusal().find(why), std::string::npos);
  options_.trust.policy = Policy::kRequire;
  // The server hides the list again.
  fs::remove(packages() / "revoked.txt");
  restart();
  EXPECT_NE(refusal().find(why), std::string::npos);
  EXPECT_EQ(violations(), std::vector<std::string>{"manifest.sig: " + why});
  options_.trust.lock = lock;
  EXPECT_NE(refusal().find(why), std::string::npos);
}

TEST_F(OverTime, KeyringRevokesKey) {
  const std::string line = keyring_line(key_.id(), "the test");
  for (const std::string& revoked : {"revoked " + line, revocation_line(key_)}) {
    const auto keyring = Keyring::parse(line + revoked, "k");
    ASSERT_TRUE(keyring) << keyring.error().message;
    options_.trust.keyring = *keyring;
    EXPECT_NE(refusal().find("which is revoked"), std::string::npos);
  }
}

// A key can only revoke itself.
TEST(Revocation, NeedsSignatureOfRevokedKey) {
  const PrivateKey key = PrivateKey::generate();
  const PrivateKey other = PrivateKey::generate();
  const std::string line = revocation_line(key);
  const auto parsed = parse_revocations("# old\n\n" + line, "r");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, std::set<KeyId>{key.id()});
  std::string forged = revocation_line(other);
  forged.replace(forged.find(other.id()), other.id().size(), key.id());
  EXPECT_EQ(parse_revocations(forged, "r").error().message,
            "r: line 1: not signed by the key that it revokes");
  // A signature of anything else is no revocation.
  EXPECT_FALSE(parse_revocations("revoked " + key.sign("{}"), "r"));
  EXPECT_FALSE(parse_revocations(line + "ed25519 x\n", "r"));
}

TEST(UtcTime, HasOneForm) {
  for (const char* text :
       {"2026-11-17T09:00:00Z", "2024-02-29T23:59:59Z", "9999-12-31T00:00:00Z"}) {
    EXPECT_EQ(time_error(text), "") << text;
  }
  for (const char* text : {"", "2026-11-17", "2026-11-17T09:00:00", "2026-11-17T09:00:00+00:00",
                           "2026-11-17T09:00:00.0Z", "2025-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
                           "2026-11-17T24:00:00Z", "2026-11-17T09:60:00Z", "2026-11-17 09:00:00Z",
                           "0000-01-01T00:00:00Z", "+026-11-17T09:00:00Z"}) {
    EXPECT_NE(time_error(text), "") << text;
  }
  EXPECT_EQ(utc_time(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc_time(1'709'251'199), "2024-02-29T23:59:59Z");
  EXPECT_EQ(time_error(utc_now()), "");
}

TEST(PackageIndexFile, RefusesDuplicatesAndUnknownFields) {
  const auto error = [](const char* text) {
    const auto index = parse_index(text, "i");
    return index ? "" : index.error().message;
  };
  EXPECT_EQ(error(R"({"packages": {"a/b": {"1": []}}, "released": "2026-11-17T09:00:00Z"})"), "");
  EXPECT_EQ(error(R"({"packages": {"a/b": {"1": []}, "a/b": {"2": []}}})"),
            "i: [\"packages\"][\"a/b\"]: occurs more than once");
  EXPECT_EQ(error(R"({"packages": {}, "packages": {}})"),
            "i: [\"packages\"]: occurs more than once");
  EXPECT_EQ(error(R"({"packages": {}, "more": 1})"), "i: [\"more\"]: unknown field");
}

TEST(LockFile, RefusesDuplicates) {
  const auto lock =
      parse_lock(R"({"packages": [{"name": "a/b", "name": "a/c", "version": 1}]})", "l");
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().message, "l: [\"packages\"][0][\"name\"]: occurs more than once");
}

}  // namespace
}  // namespace epi::hub
