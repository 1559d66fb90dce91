// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/description/renames.h"

#include <algorithm>

namespace epi::report {

std::span<const Rename> renames() {
  static constexpr Rename kRenames[] = {
#define EPI_RENAME(owner, name, old_name) Rename{owner, name, old_name},
#include "epilogue/report/description/renames.def"
#undef EPI_RENAME
  };
  return kRenames;
}

std::string_view old_key(std::string_view owner, std::string_view name) {
  const auto all = renames();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Rename& one) {
    return one.owner == owner && one.name == name;
  });
  return found == all.end() ? name : found->old_name;
}

}  // namespace epi::report
