// SPDX-License-Identifier: Apache-2.0
#include "epilogue/sql/read_only.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace epi::sql {
namespace {

// These only describe tables, functions and the library. With a value they are still reads.
constexpr std::string_view kReadingPragmas[] = {
    "collation_list", "compile_options", "database_list", "function_list", "module_list",
    "pragma_list",    "table_info",      "table_list",    "table_xinfo",
};

// Functions of some SQLite builds and of its shell that read or write files, load code, or reveal
// pointers.
constexpr std::string_view kDeniedFunctions[] = {
    "edit", "fts3_tokenizer", "load_extension", "readfile", "writefile",
};

template <size_t kCount>
bool contains(const std::string_view (&names)[kCount], const char* name) {
  if (name == nullptr) return false;
  const std::string_view wanted = name;
  return std::ranges::any_of(names, [&](std::string_view one) {
    return std::ranges::equal(one, wanted, [](char a, char b) {
      return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
    });
  });
}

const char* name_of(int action) {
  switch (action) {
    case SQLITE_ATTACH:
      return "ATTACH or VACUUM";  // VACUUM attaches its target
    case SQLITE_DETACH:
      return "DETACH";
    case SQLITE_INSERT:
      return "INSERT";
    case SQLITE_UPDATE:
      return "UPDATE";
    case SQLITE_DELETE:
      return "DELETE";
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
      return "a transaction";
    default:
      return "a statement that writes";
  }
}

}  // namespace

ReadOnly::ReadOnly(sqlite3* db) : db_(db) { ::sqlite3_set_authorizer(db, authorize, this); }

ReadOnly::~ReadOnly() { ::sqlite3_set_authorizer(db_, nullptr, nullptr); }

int ReadOnly::authorize(void* self, int action, const char* first, const char* second, const char*,
                        const char*) {
  auto& denied = static_cast<ReadOnly*>(self)->denied_;
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_UPDATE:
      // SQLite asks this for its own statement when it first uses a virtual table. A user's UPDATE
      // of that table fails without PRAGMA writable_schema, which is denied.
      if (first != nullptr && std::string_view(first) == "sqlite_master") return SQLITE_OK;
      if (denied.empty()) denied = name_of(action);
      return SQLITE_DENY;
    case SQLITE_FUNCTION:  // `second` is the function
      if (!contains(kDeniedFunctions, second)) return SQLITE_OK;
      denied = fmt::format("the function {}", second);
      return SQLITE_DENY;
    case SQLITE_PRAGMA:  // `first` is the pragma
      if (contains(kReadingPragmas, first)) return SQLITE_OK;
      denied = fmt::format("PRAGMA {}", first);
      return SQLITE_DENY;
    case SQLITE_INSERT:
      // Creating anything begins with a row in the schema.
      if (denied.empty()) {
        const bool creates = first != nullptr && std::string_view(first).starts_with("sqlite_");
        denied = creates ? "CREATE" : name_of(action);
      }
      return SQLITE_DENY;
    default:
      if (denied.empty()) denied = name_of(action);
      return SQLITE_DENY;
  }
}

}  // namespace epi::sql
