// SPDX-License-Identifier: Apache-2.0
// What this user has seen of packages from servers, so that a server can neither return to an older
// state nor hide a revocation. Only statements of trusted keys are remembered. The file is
// XDG_STATE_HOME/epilogue/hub.json, by default in ~/.local/state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "epilogue/base/result.h"
#include "epilogue/hub/keys.h"

namespace epi::hub {

struct SeenState {
  std::map<std::string, int64_t> versions;       // the newest, by package
  std::map<std::string, std::string> manifests;  // `released`, by "epilogue/glu@1 VARIANT"
  std::map<std::string, std::string> indexes;    // `released`, by source
  std::set<KeyId> revoked;

  bool operator==(const SeenState&) const = default;
};
Result<SeenState> parse_seen(std::string_view text, std::string_view path);
std::string seen_text(const SeenState& state);

// Thread-safe.
class Seen {
 public:
  // Without a path, remembers until the end of the process.
  explicit Seen(std::filesystem::path path = {}) : path_(std::move(path)) {}

  // Reads the file, if there is one. Refuses a file that other users can write to.
  Result<void> load();
  SeenState state() const;
  // Applies `change` to the state in the file, which other processes may have changed, and writes
  // it back. The state in memory changes even if the file cannot be written.
  Result<void> update(const std::function<void(SeenState&)>& change);

 private:
  Result<SeenState> read_file() const;

  std::filesystem::path path_;
  mutable std::mutex mutex_;
  SeenState state_;
};

// The path of the file; none if there is no home folder.
std::optional<std::filesystem::path> seen_path();

}  // namespace epi::hub
