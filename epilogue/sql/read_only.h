// SPDX-License-Identifier: Apache-2.0
// Lets SQLite only read while this object exists. Everything that is not known to read is denied:
// ATTACH, VACUUM INTO, PRAGMAs that write, and functions that use files or load code.
#pragma once

#include <sqlite3.h>

#include <string>

namespace epi::sql {

class ReadOnly {
 public:
  explicit ReadOnly(sqlite3* db);
  ReadOnly(const ReadOnly&) = delete;
  ReadOnly& operator=(const ReadOnly&) = delete;
  ~ReadOnly();

  // What a statement tried; empty if nothing was denied.
  const std::string& denied() const { return denied_; }

 private:
  static int authorize(void* self, int action, const char* first, const char* second, const char*,
                       const char*);
  sqlite3* db_;
  std::string denied_;
};

}  // namespace epi::sql
