// SPDX-License-Identifier: Apache-2.0
// Reads package files without following links and with a size limit, and checks the paths in a
// manifest.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "epilogue/base/result.h"

namespace epi::hub {

// Read a regular file of at most `max_bytes`. A user's file may be a link. For a package file the
// last component of the path must not be a link.
Result<std::string> read_user_file(const std::filesystem::path& path, int64_t max_bytes);
Result<std::string> read_package_file(const std::filesystem::path& path, int64_t max_bytes);

// Reads `relative` under `folder`. No component of `relative` may be a link.
Result<std::string> read_file_under(const std::filesystem::path& folder, std::string_view relative,
                                    int64_t max_bytes);

// Like `read_user_file`, for files that decide what is trusted: refuses a file that belongs to
// another user than root, or that other users can write to.
Result<std::string> read_trusted_file(const std::filesystem::path& path, int64_t max_bytes);
// The same for a file that other users must not read either.
Result<std::string> read_secret_file(const std::filesystem::path& path, int64_t max_bytes);

// True only if nothing has this path. An error, such as of the disk, does not mean that a file is
// missing: reading it tells.
bool is_missing(const std::filesystem::path& path);

// Writes a file atomically. Creates its parent folders. Only its owner can write to it, whatever
// the umask.
Result<void> write_file(const std::filesystem::path& path, std::string_view bytes,
                        mode_t mode = 0644);
// Creates a folder and those above it, if needed.
Result<void> make_folders(const std::filesystem::path& path, mode_t mode = 0755);

// Creates a folder that only this user can access, whatever the umask, and folders above it.
// Refuses an existing folder that belongs to another user or that others can write to.
Result<void> make_private_folder(const std::filesystem::path& path);
// Why other users may have written to this folder; empty if only this user can. A link is refused.
std::string folder_error(const std::filesystem::path& path);

// Why a manifest must not contain this path; empty if it may. Allowed are at most 200 characters of
// letters, digits, "._+-" and "/", without "." or ".." as a component.
std::string path_error(std::string_view path);

}  // namespace epi::hub
