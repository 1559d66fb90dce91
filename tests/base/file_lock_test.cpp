// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/file_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace epi {
namespace {

int read_number(const std::filesystem::path& path) {
  std::ifstream file(path);
  int number = 0;
  file >> number;
  return number;
}

// Each process increments the number in a file many times. Without the lock, increments are lost.
TEST(FileLock, LosesNoChangeOfParallelProcesses) {
  constexpr int kProcesses = 8;
  constexpr int kIncrements = 50;
  std::string folder = (std::filesystem::temp_directory_path() / "file_lock_XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::filesystem::path path = std::filesystem::path(folder) / "number";
  for (int i = 0; i < kProcesses; ++i) {
    if (::fork() != 0) continue;
    for (int j = 0; j < kIncrements; ++j) {
      const auto lock = FileLock::acquire(path);
      if (!lock) ::_exit(1);
      const int number = read_number(path);
      std::ofstream(path) << number + 1;
    }
    ::_exit(0);
  }
  for (int i = 0; i < kProcesses; ++i) {
    int status = 0;
    ASSERT_GT(::wait(&status), 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(read_number(path), kProcesses * kIncrements);
  const std::filesystem::directory_iterator files(folder);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);  // nothing stays behind
  std::filesystem::remove_all(folder);
}

TEST(FileLock, NamesAFolderThatDoesNotExist) {
  const auto lock = FileLock::acquire("/nonexistent/folder/keyring");
  ASSERT_FALSE(lock);
  EXPECT_NE(lock.error().message.find("/nonexistent/folder: "), std::string::npos);
}

}  // namespace
}  // namespace epi
