// SPDX-License-Identifier: Apache-2.0
// Folders in the layout of the Hugging Face kernel builder, written by the test.
#include "epilogue/hub/hugging_face.h"

#include "tests/hub/test_package.h"

namespace epi::hub {
namespace {

class HuggingFace : public TestPackage {
 protected:
  void SetUp() override {
    TestPackage::SetUp();
    write(variant() / "__init__.py", "hello");
    write(variant() / "_relu_cuda_abc.abi3.so", "world");
    write(variant() / "__pycache__/x.pyc", "?");
    // printf hello | openssl dgst -sha256 -binary | base64
    metadata("LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=",
             "SG6kYiTRu0+2gPNPfJrZao8k7Ii+c+qOWmxlJg6cuKc=");
  }
  std::filesystem::path variant() const {
    return top_ / "hf/build/torch212-cxx11-cu126-x86_64-linux";
  }
  void metadata(const std::string& init, const std::string& library) const {
    write(variant() / "metadata.json",
          fmt::format(R"({{"id": "x", "name": "relu", "version": 2, "license": "MIT",
            "backend": {{"type": "cuda", "archs": ["9.0", "8.0+PTX"]}},
            "digest": {{"algorithm": "sha256", "files":
              {{"__init__.py": "{}", "_relu_cuda_abc.abi3.so": "{}"}}}}}})",
                      init, library));
  }
  HuggingFaceVariant only() const {
    const auto variants = read_hugging_face(top_ / "hf");
    EXPECT_TRUE(variants && variants->size() == 1);
    return variants->at(0);
  }
};

TEST_F(HuggingFace, ReadsFolderAndVerifiesDigest) {
  ASSERT_TRUE(is_hugging_face(top_ / "hf"));
  EXPECT_FALSE(is_hugging_face(packages()));
  const HuggingFaceVariant variant = only();
  EXPECT_EQ(variant.variant, "torch212-cxx11-cu126-x86_64-linux");
  EXPECT_EQ(variant.name, "relu");
  EXPECT_EQ(variant.version, 2);
  EXPECT_EQ(variant.archs, (std::vector<std::string>{"9.0", "8.0+PTX"}));
  EXPECT_EQ(variant.algorithm, "sha256");
  EXPECT_EQ(variant.violations, std::vector<std::string>{});
}

TEST_F(HuggingFace, ListsChangedMissingAndUnknownFiles) {
  write(variant() / "__init__.py", "Hello");
  std::filesystem::remove(variant() / "_relu_cuda_abc.abi3.so");
  write(variant() / "more.py", "");
  const auto violations = only().violations;
  ASSERT_EQ(violations.size(), 3U);
  EXPECT_EQ(violations[0],
            "__init__.py: sha256 is GF+NsyJx/iX1Yab8k4suJkMG7DBO2lGAB9F2SCY4GWk=, the digest lists "
            "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=");
  EXPECT_EQ(violations[1], "_relu_cuda_abc.abi3.so: missing");
  EXPECT_EQ(violations[2], "more.py: not in the digest");
}

// In the Hugging Face cache, the files of a snapshot are links to blobs of the same repository.
TEST_F(HuggingFace, FollowsLinksOnlyWithinRepository) {
  namespace fs = std::filesystem;
  const fs::path repository = top_ / "models--x";
  fs::create_directories(repository / "snapshots/abc/build");
  fs::create_directories(repository / "blobs");
  const fs::path linked = repository / "snapshots/abc/build/torch-cuda";
  fs::create_directory(linked);
  for (const char* name : {"__init__.py", "_relu_cuda_abc.abi3.so", "metadata.json"}) {
    fs::copy_file(variant() / name, repository / "blobs" / name);
    fs::create_symlink(fs::path("../../../../blobs") / name, linked / name);
  }
  auto variants = read_hugging_face(repository / "snapshots/abc");
  ASSERT_TRUE(variants) << variants.error().message;
  EXPECT_EQ(variants->at(0).violations, std::vector<std::string>{});
  fs::remove(linked / "__init__.py");
  fs::create_symlink(variant() / "__init__.py", linked / "__init__.py");
  variants = read_hugging_face(repository / "snapshots/abc");
  EXPECT_EQ(variants->at(0).violations,
            std::vector<std::string>{"__init__.py: leads outside the repository folder"});
}

TEST_F(HuggingFace, ListsVariantWithoutMetadata) {
  write(variant().parent_path() / "torch-universal/__init__.py", "");
  const auto variants = read_hugging_face(top_ / "hf");
  ASSERT_TRUE(variants && variants->size() == 2);
  EXPECT_EQ(variants->at(0).violations.size(), 1U);
}

TEST_F(HuggingFace, ReportsMissingDigest) {
  write(variant() / "metadata.json", R"({"name": "relu", "version": 1})");
  EXPECT_EQ(only().violations,
            std::vector<std::string>{"metadata.json: no digest, the files cannot be checked"});
  write(variant() / "metadata.json", "{");
  EXPECT_EQ(only().violations.size(), 1U);
}

}  // namespace
}  // namespace epi::hub
