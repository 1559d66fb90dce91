// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

class Keys : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/epilogue-keys-XXXXXX";
    top_ = ::mkdtemp(pattern);
  }
  void TearDown() override { fs::remove_all(top_); }
  fs::path file(const std::string& text) const {
    const fs::path path = top_ / "file";
    std::ofstream(path) << text;
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    return path;
  }
  fs::path top_;
};

// Key and signature of the second test vector of RFC 8032, section 7.1.
TEST_F(Keys, SignsAsInRfc8032) {
  const auto key = PrivateKey::read(
      file("ed25519-private 4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb\n"));
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(key->id(), "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  EXPECT_EQ(key->sign("\x72"),
            "ed25519 3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c "
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00\n");
}

TEST_F(Keys, SignatureMatchesOnlyItsBytesAndKey) {
  const PrivateKey key = PrivateKey::generate();
  const auto signature = parse_signature(key.sign("some bytes"));
  ASSERT_TRUE(signature) << signature.error().message;
  EXPECT_TRUE(is_signature_of(*signature, "some bytes"));
  EXPECT_FALSE(is_signature_of(*signature, "some byteS"));
  EXPECT_FALSE(is_signature_of({PrivateKey::generate().id(), signature->digits}, "some bytes"));
}

TEST_F(Keys, AcceptsOnlyOneSignatureFormat) {
  const std::string text = PrivateKey::generate().sign("x");
  EXPECT_TRUE(parse_signature(text));
  for (const std::string& other :
       {text + "\n", text + " ", text.substr(0, text.size() - 1), " " + text, std::string(),
        text.substr(8), "ED25519" + text.substr(7), text.substr(0, 100) + "\n"}) {
    EXPECT_FALSE(parse_signature(other)) << other;
  }
}

TEST_F(Keys, PrivateKeyIsPrivateAndNeverOverwritten) {
  const PrivateKey key = PrivateKey::generate();
  ASSERT_TRUE(key.save(top_ / "key"));
  struct stat status = {};
  ASSERT_EQ(::stat((top_ / "key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  const auto again = PrivateKey::generate().save(top_ / "key");
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("File exists"), std::string::npos);
  const auto read = PrivateKey::read(top_ / "key");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->id(), key.id());
}

TEST_F(Keys, RejectsInvalidKeyFile) {
  for (const char* text : {"", "ed25519-private", "ed25519-private 12", "ed25519 00"}) {
    const auto key = PrivateKey::read(file(text));
    ASSERT_FALSE(key) << text;
    EXPECT_NE(key.error().message.find("not a private key"), std::string::npos);
  }
}

TEST_F(Keys, KeyringErrorNamesLine) {
  const std::string id = PrivateKey::generate().id();
  const auto keyring = Keyring::parse("# ours\n\n" + keyring_line(id, "the team"), "k");
  ASSERT_TRUE(keyring) << keyring.error().message;
  ASSERT_NE(keyring->find(id), nullptr);
  EXPECT_EQ(keyring->find(id)->name, "the team");
  EXPECT_EQ(keyring->find(std::string(64, '0')), nullptr);
  const auto broken = Keyring::parse("# ours\ned25519 12 me\n", "k");
  ASSERT_FALSE(broken);
  EXPECT_TRUE(broken.error().message.starts_with("k: line 2: ")) << broken.error().message;
}

}  // namespace
}  // namespace epi::hub
