// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/folder_names.h"

#include <gtest/gtest.h>

#include <fstream>

namespace epi {
namespace {

namespace fs = std::filesystem;

TEST(FolderNames, ListsFilesFoldersAndLinksSorted) {
  const fs::path folder = fs::path(testing::TempDir()) / "epilogue_folder_names";
  fs::remove_all(folder);
  fs::create_directories(folder / "b");
  std::ofstream(folder / "c") << "text";
  std::ofstream(folder / ".a") << "text";
  fs::create_symlink("missing", folder / "d");
  std::error_code error = std::make_error_code(std::errc::io_error);
  EXPECT_EQ(folder_names(folder, error), (std::vector<std::string>{".a", "b", "c", "d"}));
  EXPECT_FALSE(error);
  fs::remove_all(folder);
}

TEST(FolderNames, ReportsMissingFolder) {
  std::error_code error;
  EXPECT_TRUE(folder_names("/nonexistent/folder", error).empty());
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
}

}  // namespace
}  // namespace epi
