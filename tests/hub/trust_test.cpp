// SPDX-License-Identifier: Apache-2.0
// Which packages are refused and with which message: changed bytes in any file, links, paths,
// sizes, keys, and the lock.
#include "epilogue/hub/trust.h"

#include <sys/stat.h>

#include "epilogue/base/hash.h"
#include "tests/hub/test_package.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

class TrustTest : public TestPackage {
 protected:
  // The only violation.
  std::string reason() const {
    const auto all = violations();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? "" : all[0];
  }
  // Writes and signs any manifest, to test the rules that are checked after the signature.
  void sign_anyway(const std::string& manifest) const {
    write(folder() / "manifest.json", manifest);
    write(folder() / "manifest.sig", key_.sign(manifest));
  }
  std::string replaced(const std::string& from, const std::string& to) const {
    std::string text = read(folder() / "manifest.json");
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  }
};

TEST_F(TrustTest, TrustsUnchangedPackage) {
  const CheckedVariant variant = check();
  EXPECT_TRUE(variant.is_trusted());
  EXPECT_EQ(variant.checked.key, key_.id());
  EXPECT_EQ(variant.files.at("README"), "read me");
  EXPECT_EQ(variant.checked.manifest->license, "MIT");
}

TEST_F(TrustTest, RejectsChangeOfAnyByteInAnyFile) {
  size_t tried = 0;
  for (const char* name : {"manifest.json", "manifest.sig", "lib/one.so", "README"}) {
    const fs::path path = folder() / name;
    const std::string bytes = read(path);
    for (size_t i = 0; i < bytes.size(); ++i, ++tried) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ 1);
      std::ofstream(path, std::ios::binary) << changed;
      const auto all = violations();
      ASSERT_FALSE(all.empty()) << name << ", byte " << i;
      const bool of_manifest = std::string_view(name).starts_with("manifest");
      const std::string start = of_manifest ? "manifest.sig: " : std::string(name) + ": sha256 is ";
      EXPECT_TRUE(all[0].starts_with(start)) << all[0];
      EXPECT_TRUE(!of_manifest || !check().checked.manifest) << "parsed before it was verified";
    }
    std::ofstream(path, std::ios::binary) << bytes;
  }
  EXPECT_GT(tried, 1000U);
  EXPECT_TRUE(check().is_trusted());
}

TEST_F(TrustTest, ListsAllViolations) {
  write(folder() / "lib/one.so", fake_library("other code"));
  fs::remove(folder() / "README");
  write(folder() / "extra/file", "?");
  const auto all = violations();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0], "README: missing");
  EXPECT_EQ(all[1], "lib/one.so: 74 bytes, the manifest lists 72");
  EXPECT_EQ(all[2], "extra/file: not in the manifest");
}

TEST_F(TrustTest, RejectsLinks) {
  write(top_ / "outside", "read me");
  fs::remove(folder() / "README");
  fs::create_symlink(top_ / "outside", folder() / "README");
  EXPECT_TRUE(reason().ends_with("README: symbolic links are not allowed in packages"));
  fs::remove(folder() / "README");
  write(folder() / "README", "read me");
  fs::rename(folder() / "lib", top_ / "lib");
  fs::create_directory_symlink(top_ / "lib", folder() / "lib");
  const auto all = violations();
  ASSERT_EQ(all.size(), 2U);  // the link itself is not in the manifest either
  EXPECT_TRUE(all[0].ends_with("lib/one.so: symbolic links are not allowed in packages")) << all[0];
}

TEST_F(TrustTest, RejectsPathsOutsideOfFolder) {
  const std::pair<const char*, const char*> kPaths[] = {
      {"../README", "the path leaves its folder"},
      {"lib/../../README", "the path leaves its folder"},
      {"/etc/passwd", "the path is not relative"},
      {"a//b", "the path has an empty or \\\".\\\" component"},
      {"./README", "the path has an empty or \\\".\\\" component"},
      {"READ\\\\ME", "the path has a character other than letters, digits and ._+-/"},
      {"manifest.json", "the manifest must not list this file"}};
  const std::string before = read(folder() / "manifest.json");
  for (const auto& [path, rule] : kPaths) {
    write(folder() / "manifest.json", before);
    sign_anyway(replaced("\"README\": {", fmt::format("\"{}\": {{", path)));
    std::string expected = rule;
    std::erase(expected, '\\');
    EXPECT_TRUE(reason().ends_with(expected)) << path << ": " << reason();
  }
}

TEST_F(TrustTest, RejectsSignedManifestOfAnotherPackage) {
  const std::string before = read(folder() / "manifest.json");
  sign_anyway(replaced("\"test/one\"", "\"test/two\""));
  EXPECT_EQ(reason(), "manifest.json: name is test/two, expected test/one");
  write(folder() / "manifest.json", before);
  sign_anyway(replaced("\"version\": 1", "\"version\": 2"));
  EXPECT_EQ(reason(), "manifest.json: version is 2, expected 1");
  // The folder of one variant with the signed files of another.
  fs::remove_all(folder());
  fs::copy(folder(kOther), folder(), fs::copy_options::recursive);
  EXPECT_EQ(reason(), fmt::format("manifest.json: variant is {}, expected {}", kOther, kBaseline));
}

TEST_F(TrustTest, DoesNotReadHugeManifest) {
  fs::resize_file(folder() / "manifest.json", 1'000'000'000);
  EXPECT_TRUE(reason().ends_with("1000000000 bytes exceed the limit of 1048576")) << reason();
}

TEST_F(TrustTest, DoesNotBlockOnPipe) {
  fs::remove(folder() / "README");
  ASSERT_EQ(::mkfifo((folder() / "README").c_str(), 0600), 0);
  EXPECT_TRUE(reason().ends_with("README: not a regular file")) << reason();
}

TEST_F(TrustTest, RejectsUnreadableManifest) {
  fs::remove(folder() / "manifest.json");
  EXPECT_TRUE(reason().ends_with("manifest.json: No such file or directory")) << reason();
  fs::create_symlink(top_ / "elsewhere", folder() / "manifest.json");
  EXPECT_TRUE(reason().ends_with("symbolic links are not allowed in packages")) << reason();
  fs::rename(folder(), top_ / "moved");
  fs::create_directory_symlink(top_ / "moved", folder());
  EXPECT_TRUE(reason().ends_with("symbolic links are not allowed in packages")) << reason();
}

// Signed without a check of the code: the file matches the manifest but is not a library.
TEST_F(TrustTest, RejectsFileThatIsNotCode) {
  const std::string text = "#!/bin/sh\n";
  std::string manifest = read(folder() / "manifest.json");
  const auto replace = [&](const std::string& from, const std::string& to) {
    manifest.replace(manifest.find(from), from.size(), to);
  };
  replace(sha256(fake_library("the code")), sha256(text));
  replace("\"bytes\": 72", fmt::format("\"bytes\": {}", text.size()));
  write(folder() / "lib/one.so", text);
  sign_anyway(manifest);
  EXPECT_EQ(reason(),
            fmt::format("lib/one.so: unknown code format, the variant {} needs x86_64 library",
                        kBaseline));
}

TEST_F(TrustTest, PolicyAppliesOnlyToSigners) {
  const auto with = [&](Policy policy) {
    options_.trust.policy = policy;
    return check().checked;
  };
  fs::remove(folder() / "manifest.sig");
  EXPECT_EQ(with(Policy::kRequire).violations,
            std::vector<std::string>{"manifest.sig: missing: the package is not signed"});
  EXPECT_EQ(with(Policy::kWarn).violations.size(), 0U);
  EXPECT_EQ(with(Policy::kWarn).warnings.size(), 1U);
  EXPECT_EQ(with(Policy::kOff).warnings.size(), 0U);
  sign();
  options_.trust.keyring = Keyring();
  EXPECT_EQ(with(Policy::kRequire).violations,
            std::vector<std::string>{
                fmt::format("manifest.sig: signed by {}, which is not in any keyring", key_.id())});
  EXPECT_EQ(with(Policy::kWarn).warnings.size(), 1U);
  // No policy accepts a wrong signature or a changed file.
  write(folder() / "manifest.json", read(folder() / "manifest.json") + " ");
  EXPECT_EQ(with(Policy::kWarn).violations.size(), 1U);
  write(folder() / "README", "READ ME");
  EXPECT_EQ(with(Policy::kOff).violations.size(), 1U);
}

TEST_F(TrustTest, EnforcesLock) {
  const Lock original = lock_now();
  options_.trust.lock = original;
  EXPECT_TRUE(check().is_trusted());
  const auto changed = [&](auto change) {
    options_.trust.lock = original;
    change(options_.trust.lock->packages[0]);
    const auto all = violations();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? "" : all[0];
  };
  EXPECT_EQ(changed([](LockedPackage& p) { p.version = 2; }),
            "epilogue.lock: test/one@1 is not locked: run `epilogue hub lock test/one@1`");
  EXPECT_EQ(changed([](LockedPackage& p) { p.key = "abc"; }),
            "epilogue.lock: the package is locked to abc but signed by " + key_.id());
  EXPECT_EQ(changed([](LockedPackage& p) { p.variants.erase(kBaseline); }),
            fmt::format("epilogue.lock: {} is not locked", kBaseline));
  EXPECT_NE(changed([](LockedPackage& p) {
              p.variants[kBaseline].manifest[0] ^= 1;
            }).find("epilogue.lock: manifest.json is locked with sha256 "),
            std::string::npos);
  EXPECT_NE(changed([](LockedPackage& p) {
              p.variants[kBaseline].files["README"][5] ^= 1;
            }).find("epilogue.lock: README is locked with sha256 "),
            std::string::npos);
  EXPECT_EQ(changed([](LockedPackage& p) { p.variants[kBaseline].files.erase("README"); }),
            "epilogue.lock: README is not locked");
  EXPECT_EQ(changed([](LockedPackage& p) { p.variants[kBaseline].files["more"] = "00"; }),
            "epilogue.lock: more is locked but missing");
}

TEST_F(TrustTest, RejectsChangeOfAnyByteInLock) {
  Lock lock = lock_now();
  lock.packages[0].variants.erase(kOther);  // an unused variant is not checked
  lock.path = (top_ / "epilogue.lock").string();
  ASSERT_TRUE(write_lock(lock));
  const std::string text = read(lock.path);
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    const auto parsed = parse_lock(changed, "epilogue.lock");
    if (!parsed) continue;  // not JSON, or not a lock
    options_.trust.lock = *parsed;
    EXPECT_FALSE(check().is_trusted()) << "byte " << i << ": " << changed;
  }
  options_.trust.lock = *parse_lock(text, "epilogue.lock");
  EXPECT_TRUE(check().is_trusted());
}

}  // namespace
}  // namespace epi::hub
