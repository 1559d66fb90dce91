// SPDX-License-Identifier: Apache-2.0
// The names of schema 1, for `--json=1`. CHANGELOG.md shows the same table.
#pragma once

#include <span>
#include <string_view>

namespace epi::report {

struct Rename {
  // The object that has the member, or the enumeration that has the value: kName of its
  // description or of its words.
  std::string_view owner;
  std::string_view name;      // in the current schema
  std::string_view old_name;  // empty: schema 1 has the members of this object in the one around it
};
// Renamed members, and renamed values of enumerations.
std::span<const Rename> renames();

// The old name of a member or of a value; the name itself if it was not renamed.
std::string_view old_key(std::string_view owner, std::string_view name);

}  // namespace epi::report
