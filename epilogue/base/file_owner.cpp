// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/file_owner.h"

#include <fmt/format.h>
#include <unistd.h>

namespace epi {

std::string owner_error(const struct stat& status, Owner allowed) {
  const bool is_owned =
      status.st_uid == ::geteuid() || (allowed == Owner::kUserOrRoot && status.st_uid == 0);
  if (!is_owned) return fmt::format("owned by another user (uid {})", status.st_uid);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fmt::format("writable by other users (mode {:04o}): run `chmod go-w` on it",
                       status.st_mode & 07777);
  }
  return "";
}

}  // namespace epi
