// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/file_owner.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace epi {
namespace {

struct stat status_of(uid_t owner, mode_t mode) {
  struct stat status = {};
  status.st_uid = owner;
  status.st_mode = S_IFREG | mode;
  return status;
}

TEST(FileOwner, AcceptsFilesThatOnlyTheUserCanWrite) {
  EXPECT_EQ(owner_error(status_of(::geteuid(), 0600), Owner::kUser), "");
  EXPECT_EQ(owner_error(status_of(::geteuid(), 0755), Owner::kUser), "");
}

TEST(FileOwner, RefusesFilesOfAnotherUser) {
  const uid_t other = ::geteuid() + 1;
  EXPECT_NE(owner_error(status_of(other, 0600), Owner::kUser), "");
  EXPECT_NE(owner_error(status_of(other, 0600), Owner::kUserOrRoot), "");
}

TEST(FileOwner, AcceptsRootOnlyWhereAnAdministratorMayInstallFiles) {
  EXPECT_EQ(owner_error(status_of(0, 0644), Owner::kUserOrRoot), "");
  if (::geteuid() == 0) GTEST_SKIP() << "root is the user here";
  EXPECT_NE(owner_error(status_of(0, 0644), Owner::kUser), "");
}

TEST(FileOwner, RefusesFilesThatOthersCanWrite) {
  for (const mode_t mode : {0620, 0602, 0666, 0777}) {
    EXPECT_NE(owner_error(status_of(::geteuid(), mode), Owner::kUserOrRoot), "") << mode;
  }
}

}  // namespace
}  // namespace epi
