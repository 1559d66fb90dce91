// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "epilogue/base/mapped_file.h"
#include "epilogue/base/output_file.h"

namespace epi {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / (std::string("epilogue_files_") + info->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string content(const fs::path& path) const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

TEST_F(Files, OutputAppearsOnCommit) {
  const fs::path target = folder_ / "out.txt";
  auto file = OutputFile::create(target);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("hello"));
  EXPECT_FALSE(fs::exists(target));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(content(target), "hello");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, OutputWithoutCommitKeepsTheOldFile) {
  const fs::path target = folder_ / "out.txt";
  std::ofstream(target) << "old";
  {
    auto file = OutputFile::create(target);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("new"));
  }
  EXPECT_EQ(content(target), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, ReportsOutputIntoMissingFolder) {
  const auto file = OutputFile::create(folder_ / "absent" / "out.txt");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("absent/out.txt"), std::string::npos);
}

// A limit on the file size simulates a full disk: both make a write fail.
TEST_F(Files, FailedWriteLeavesNoFile) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{4096, old.rlim_max};
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  {
    auto file = OutputFile::create(folder_ / "out.txt");
    ASSERT_TRUE(file);
    const auto written = file->write(std::string(8192, 'x'));
    EXPECT_TRUE(!written && written.error().message.find("out.txt") != std::string::npos);
  }
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(entries(), 0U);
}

// A killed writer in a container leaves a file of the name that the next process would choose if
// names were made of process ids.
TEST_F(Files, RemovesTemporaryFilesOfKilledWriters) {
  const fs::path stale = folder_ / ".epilogue-7-0.tmp";
  std::ofstream(stale) << "half";
  fs::last_write_time(stale, fs::file_time_type::clock::now() - std::chrono::hours(1));
  ASSERT_TRUE(write_file_atomically(folder_ / "out.txt", "text"));
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, KeepsTemporaryFilesOfRunningWriters) {
  const fs::path locked = folder_ / ".epilogue-00000000000000ff.tmp";
  std::ofstream(locked) << "half";
  fs::last_write_time(locked, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const int fd = ::open(locked.c_str(), O_RDONLY);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  const fs::path young = folder_ / ".epilogue-00000000000000fe.tmp";
  std::ofstream(young) << "half";
  ASSERT_TRUE(write_file_atomically(folder_ / "out.txt", "text"));
  EXPECT_TRUE(fs::exists(locked));
  EXPECT_TRUE(fs::exists(young));
  ::close(fd);
}

TEST_F(Files, ReplacingAFileKeepsItsPermissionsAndLinks) {
  const fs::path target = folder_ / "out.txt";
  std::ofstream(target) << "old";
  fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
  const fs::path link = folder_ / "link.txt";
  fs::create_symlink("out.txt", link);
  ASSERT_TRUE(write_file_atomically(link, "new"));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content(target), "new");
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Files, WritesToADeviceWithoutReplacingIt) {
  ASSERT_TRUE(write_file_atomically("/dev/null", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_FALSE(write_file_atomically("/dev/full", "text"));
}

TEST_F(Files, MappingIsCopyOnWrite) {
  const fs::path path = folder_ / "in.bin";
  std::ofstream(path) << "abcdef";
  const auto mapped = MappedFile::open(path);
  ASSERT_TRUE(mapped);
  ASSERT_EQ(mapped->bytes().size(), 6U);
  EXPECT_EQ(std::memcmp(mapped->bytes().data(), "abcdef", 6), 0);
  mapped->bytes()[0] = std::byte{'X'};
  EXPECT_EQ(content(path), "abcdef");
}

TEST_F(Files, MapsEmptyFileToNoBytes) {
  const fs::path path = folder_ / "empty";
  std::ofstream(path).flush();
  const auto mapped = MappedFile::open(path);
  ASSERT_TRUE(mapped);
  EXPECT_TRUE(mapped->bytes().empty());
}

// Without a handler, reading a lost page ends the process with SIGBUS.
TEST_F(Files, SurvivesATruncatedMapping) {
  const fs::path path = folder_ / "in.bin";
  std::ofstream(path) << std::string(1 << 20, 'x');
  {
    const auto mapped = MappedFile::open(path);
    ASSERT_TRUE(mapped);
    EXPECT_EQ(mapped->bytes()[0], std::byte{'x'});
    EXPECT_FALSE(mapped->has_changed());
    fs::resize_file(path, 100);
    EXPECT_TRUE(mapped->has_changed());
    EXPECT_EQ(mapped->bytes()[(1 << 20) - 1], std::byte{0});
    EXPECT_EQ(mapped->bytes()[1 << 19], std::byte{0});
    EXPECT_EQ(mapped->bytes()[0], std::byte{'x'});
    EXPECT_EQ(changed_mapped_file(), path.string());
  }
  EXPECT_EQ(changed_mapped_file(), "");
}

TEST_F(Files, NoticesARewrittenMapping) {
  const fs::path path = folder_ / "in.bin";
  std::ofstream(path) << "abcdef";
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const auto mapped = MappedFile::open(path);
  ASSERT_TRUE(mapped);
  EXPECT_FALSE(mapped->has_changed());
  std::ofstream(path) << "ABCDEF";  // of the same size
  EXPECT_TRUE(mapped->has_changed());
}

// A SIGBUS that has nothing to do with a mapping still ends the process.
TEST_F(Files, PassesOtherBusErrorsOn) {
  const fs::path path = folder_ / "in.bin";
  std::ofstream(path) << "abc";
  ASSERT_TRUE(MappedFile::open(path));
  EXPECT_DEATH(::raise(SIGBUS), "");  // by the signal, or by the handler of a sanitizer
}

TEST_F(Files, ReportsUnmappablePaths) {
  EXPECT_NE(MappedFile::open(folder_).error().message.find("not a regular file"),
            std::string::npos);
  EXPECT_NE(MappedFile::open(folder_ / "no").error().message.find("no: No such file"),
            std::string::npos);
}

}  // namespace
}  // namespace epi
