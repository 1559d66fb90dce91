// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/folder_names.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

namespace epi {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

std::vector<std::string> folder_names(const std::filesystem::path& folder, std::error_code& error) {
  error.clear();
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseFolder> open(::opendir(folder.c_str()));
  if (open == nullptr) {
    error.assign(errno, std::generic_category());
    return names;
  }
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());  // safe: no other thread uses this folder
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) error.assign(errno, std::generic_category());
  std::ranges::sort(names);
  return names;
}

}  // namespace epi
