// SPDX-License-Identifier: Apache-2.0
// Checkpoints in one file, in shards and in a folder, and errors in the index.
#include "epilogue/nn/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "epilogue/tensor/factories.h"

namespace epi::nn {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

constexpr auto kIndexName = "model.safetensors.index.json";

struct Scratch {
  fs::path path = fs::path(testing::TempDir()) / fmt::format("epilogue_checkpoint_{}", ::getpid());
  ~Scratch() { fs::remove_all(path); }
};

// An empty folder that is removed when the program ends.
fs::path fresh_folder() {
  static const Scratch scratch;
  fs::remove_all(scratch.path);
  fs::create_directories(scratch.path);
  return scratch.path;
}

fs::path write_file(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

// A folder with two shards: "one.safetensors" holds a = 1 and b = 2, "two.safetensors" c = 3.
fs::path folder_with_shards() {
  const fs::path folder = fresh_folder();
  EXPECT_TRUE(save_safetensors(folder / "one.safetensors",
                               NamedTensors{{"a", full({2}, 1)}, {"b", full({2}, 2)}}));
  EXPECT_TRUE(save_safetensors(folder / "two.safetensors", NamedTensors{{"c", full({2}, 3)}}));
  return folder;
}

std::string index_text(std::string_view weight_map) {
  return fmt::format(R"({{"metadata":{{"total_size":24}},"weight_map":{}}})", weight_map);
}

// The error message for an invalid index, without its path.
std::string error_of(const fs::path& folder, std::string_view text) {
  const fs::path path = write_file(folder / kIndexName, text);
  const auto checkpoint = Checkpoint::open(path);
  if (checkpoint) return "accepted";
  const std::string& message = checkpoint.error().message;
  const std::string prefix = path.string() + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

float first_value(const Checkpoint& checkpoint, std::string_view name) {
  const auto tensor = checkpoint.tensor(name);
  EXPECT_TRUE(tensor) << tensor.error().message;
  return tensor ? tensor->data<float>()[0] : -1;
}

TEST(Checkpoint, OpensASingleFile) {
  const auto checkpoint = Checkpoint::open(folder_with_shards() / "one.safetensors");
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->names(), (Names{"a", "b"}));
  EXPECT_TRUE(checkpoint->contains("b"));
  EXPECT_FALSE(checkpoint->contains("c"));
  EXPECT_EQ(first_value(*checkpoint, "b"), 2.0F);
}

TEST(Checkpoint, OpensShardsOfAnIndex) {
  const fs::path folder = folder_with_shards();
  const auto map = R"({"c":"two.safetensors","b":"one.safetensors","a":"one.safetensors"})";
  const auto index = write_file(folder / kIndexName, index_text(map));
  for (const fs::path& path : {index, folder}) {
    const auto checkpoint = Checkpoint::open(path);
    ASSERT_TRUE(checkpoint) << checkpoint.error().message;
    EXPECT_EQ(checkpoint->names(), (Names{"a", "b", "c"}));
    EXPECT_EQ(first_value(*checkpoint, "a"), 1.0F);
    EXPECT_EQ(first_value(*checkpoint, "b"), 2.0F);
    EXPECT_EQ(first_value(*checkpoint, "c"), 3.0F);
    EXPECT_EQ(checkpoint->tensor("d").error().message,
              index.string() + ": tensor \"d\": not in the checkpoint");
  }
}

TEST(Checkpoint, TensorsOutliveTheCheckpoint) {
  const fs::path path = folder_with_shards() / "two.safetensors";
  const Tensor c = Checkpoint::open(path).value().tensor("c").value();
  fs::remove(path);
  EXPECT_EQ(c.data<float>()[1], 3.0F);
}

TEST(Checkpoint, ListsOnlyIndexedTensors) {
  const fs::path folder = folder_with_shards();
  write_file(folder / kIndexName, index_text(R"({"a":"one.safetensors"})"));
  EXPECT_EQ(Checkpoint::open(folder).value().names(), (Names{"a"}));
}

TEST(Checkpoint, PrefersSingleFileInAFolder) {
  const fs::path folder = folder_with_shards();
  write_file(folder / kIndexName, index_text(R"({"c":"two.safetensors"})"));
  fs::copy(folder / "one.safetensors", folder / "model.safetensors");
  EXPECT_EQ(Checkpoint::open(folder).value().names(), (Names{"a", "b"}));
}

TEST(Checkpoint, ReportsPathsWithoutACheckpoint) {
  const fs::path folder = fresh_folder();
  const auto empty = Checkpoint::open(folder);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message,
            folder.string() + ": contains neither model.safetensors nor " + kIndexName);
  for (const fs::path& path : {folder / "x.safetensors", folder / kIndexName}) {
    const auto absent = Checkpoint::open(path);
    ASSERT_FALSE(absent);
    EXPECT_PRED_FORMAT2(testing::IsSubstring, path.string() + ": No such file",
                        absent.error().message);
  }
}

TEST(Checkpoint, ReportsInvalidIndex) {
  const fs::path folder = folder_with_shards();
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "byte 0: not valid JSON: ", error_of(folder, ""));
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "byte 0: not valid JSON: ", error_of(folder, "{\"weight_map\":"));
  EXPECT_EQ(error_of(folder, "[]"), "byte 0: not an object");
  EXPECT_EQ(error_of(folder, "{}"), "weight_map: appears 0 times instead of once");
  EXPECT_EQ(error_of(folder, R"({"weight_map":{},"weight_map":{}})"),
            "weight_map: appears 2 times instead of once");
  EXPECT_EQ(error_of(folder, index_text("[]")), "weight_map: not an object");
  EXPECT_EQ(error_of(folder, index_text(R"({"a":1})")), "tensor \"a\": the shard is not a string");
  EXPECT_EQ(error_of(folder, index_text(R"({"a":"one.safetensors","a":"two.safetensors"})")),
            "tensor \"a\": duplicate name");
}

TEST(Checkpoint, RejectsShardsOutsideTheFolder) {
  const fs::path folder = folder_with_shards();
  for (const std::string_view shard :
       {"/etc/passwd", "../one.safetensors", "..", ".", "", "sub/one.safetensors",
        "sub\\\\one.safetensors", "one.safetensors\\u0000.bin"}) {
    const std::string message = error_of(folder, index_text(fmt::format(R"({{"a":"{}"}})", shard)));
    EXPECT_TRUE(message.starts_with("tensor \"a\": shard ")) << message;
    EXPECT_TRUE(message.ends_with(" is not a plain file name")) << message;
  }
}

TEST(Checkpoint, ReportsMissingOrBrokenShard) {
  const fs::path folder = folder_with_shards();
  const auto text = index_text(R"({"a":"one.safetensors","c":"three.safetensors"})");
  const std::string prefix = "shard \"three.safetensors\": ";
  const std::string shard = (folder / "three.safetensors").string();
  EXPECT_EQ(error_of(folder, text), prefix + shard + ": No such file or directory");
  write_file(shard, "1234");
  EXPECT_EQ(error_of(folder, text),
            prefix + shard + ": byte 4: the file ends inside the header length");
}

TEST(Checkpoint, ReportsTensorMissingFromItsShard) {
  EXPECT_EQ(error_of(folder_with_shards(), index_text(R"({"c":"one.safetensors"})")),
            "tensor \"c\": not in its shard \"one.safetensors\"");
}

}  // namespace
}  // namespace epi::nn
