// SPDX-License-Identifier: Apache-2.0
// Decides whether a file or folder may be trusted because of who can write to it. Pass the result
// of `fstat` on the descriptor that is then read, so that the file cannot be exchanged in between.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace epi {

enum class Owner : uint8_t {
  kUser,        // the effective user alone
  kUserOrRoot,  // for files that an administrator may install
};

// Why other users may have written the file; empty if only an allowed owner can write to it.
std::string owner_error(const struct stat& status, Owner allowed);

}  // namespace epi
