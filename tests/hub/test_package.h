// SPDX-License-Identifier: Apache-2.0
// A signed package in a temporary folder: "test/one" version 1 with two variants. Its code is an
// ELF header and some bytes, which is enough for everything but running it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "epilogue/hub/assemble.h"
#include "epilogue/hub/file_io.h"
#include "epilogue/hub/hub.h"
#include "epilogue/hub/source.h"

namespace epi::hub {

inline constexpr const char* kBaseline = "abi1-cpu-x86_64-linux";
inline constexpr const char* kOther = "abi1-cpu-x86_64.avx2-linux";

inline std::string fake_library(const std::string& rest) {
  std::string bytes(64, '\0');
  bytes.replace(0, 7,
                "\x7f"
                "ELF\x02\x01\x01");
  bytes[16] = 3;   // ET_DYN
  bytes[18] = 62;  // EM_X86_64
  return bytes + rest;
}

inline constexpr const char* kRecipe = R"({"name": "test/one", "version": 1, "license": "MIT",
  "code": "lib/one.so", "files": ["lib/one.so", "README"],
  "exports": [{"name": "twice", "dtypes": ["f32"],
    "operands": [{"name": "x", "shape": ["m", "n"]}, {"name": "y", "shape": ["m", "n"], "output": true}]}],
  "layers": []})";

class TestPackage : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/epilogue-hub-XXXXXX";
    top_ = ::mkdtemp(pattern);
    write(top_ / "source/recipe.json", kRecipe);
    write(top_ / "source/lib/one.so", fake_library("the code"));
    write(top_ / "source/README", "read me");
    build(kBaseline);
    build(kOther);
    sign();
    auto keyring = Keyring::parse(keyring_line(key_.id(), "the test"), "keyring");
    options_.trust.keyring = std::move(*keyring);
    options_.sources = {packages().string()};
    ::setenv("EPILOGUE_CACHE", (top_ / "cache").c_str(), 1);
    ::setenv("XDG_STATE_HOME", (top_ / "state").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("EPILOGUE_CACHE");
    ::unsetenv("XDG_STATE_HOME");
    std::filesystem::remove_all(top_);
  }

  static void write(const std::filesystem::path& path, std::string_view bytes) {
    const auto written = write_file(path, bytes);
    ASSERT_TRUE(written) << written.error().message;
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void build(const std::string& variant) const {
    const auto name = assemble({top_ / "source/recipe.json", variant, "", packages()});
    ASSERT_TRUE(name) << name.error().message;
  }
  void sign() const {
    const auto folders = sign_all(packages(), key_);
    ASSERT_TRUE(folders) << folders.error().message;
  }
  std::filesystem::path packages() const { return top_ / "packages"; }
  std::filesystem::path folder(const std::string& variant = kBaseline) const {
    return packages() / path_of({"test/one", 1, variant});
  }
  CheckedVariant check(const std::string& variant = kBaseline) const {
    return check_variant({"test/one", 1, variant}, folder(variant), options_.trust);
  }
  std::vector<std::string> violations() const { return check().checked.violations; }
  // A lock of the current state of the package.
  Lock lock_now() const {
    Lock lock{"epilogue.lock", {{"test/one", 1, key_.id(), {}}}};
    for (const char* variant : {kBaseline, kOther}) {
      const CheckedVariant checked = check(variant);
      auto& entry = lock.packages[0].variants[variant];
      entry.manifest = checked.checked.sha256;
      for (const auto& [path, file] : checked.checked.manifest->files) {
        entry.files[path] = file.sha256;
      }
    }
    return lock;
  }

  static Host host() {
    return {.os = "linux", .architecture = "x86_64", .features = {}, .device = kCpu};
  }

  std::filesystem::path top_;
  PrivateKey key_ = PrivateKey::generate();
  Options options_;
};

}  // namespace epi::hub
