// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/seen.h"

#include <cstdlib>

#include "epilogue/base/file_lock.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/hub/file_io.h"
#include "epilogue/hub/json_fields.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxSeenBytes = 64 << 20;

std::map<std::string, std::string> read_times(const JsonField& field) {
  std::map<std::string, std::string> times;
  for (const auto& [name, value] : field.members()) times[name] = value.time();
  return times;
}

void append(JsonWriter& json, const char* key, const std::map<std::string, std::string>& times) {
  json.key(key).begin_object();
  for (const auto& [name, time] : times) json.key(name).string(time);
  json.end_object();
}

}  // namespace

std::optional<fs::path> seen_path() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    return fs::path(state) / "epilogue" / "hub.json";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return fs::path(home) / ".local" / "state" / "epilogue" / "hub.json";
  }
  return std::nullopt;
}

Result<SeenState> parse_seen(std::string_view text, std::string_view path) {
  return read_json(text, path, [](const JsonField& root) {
    SeenState state;
    root.at("schema").integer(1, 1);
    for (const auto& [name, version] : root.at("versions").members()) {
      state.versions[name] = version.integer();
    }
    state.manifests = read_times(root.at("manifests"));
    state.indexes = read_times(root.at("indexes"));
    for (const JsonField& key : root.at("revoked").items()) state.revoked.insert(key.hash());
    return state;
  });
}

std::string seen_text(const SeenState& state) {
  JsonWriter json;
  json.begin_object().key("schema").integer(1).key("versions").begin_object();
  for (const auto& [name, version] : state.versions) json.key(name).integer(version);
  json.end_object();
  append(json, "manifests", state.manifests);
  append(json, "indexes", state.indexes);
  json.key("revoked").begin_array();
  for (const KeyId& key : state.revoked) json.string(key);
  return json_indented(json.end_array().end_object().text());
}

Result<SeenState> Seen::read_file() const {
  if (path_.empty() || is_missing(path_)) return SeenState{};
  const auto text = read_trusted_file(path_, kMaxSeenBytes);
  EPI_TRY(text);
  return parse_seen(*text, path_.string());
}

Result<void> Seen::load() {
  auto state = read_file();
  EPI_TRY(state);
  const std::lock_guard guard(mutex_);
  state_ = std::move(*state);
  return {};
}

SeenState Seen::state() const {
  const std::lock_guard guard(mutex_);
  return state_;
}

Result<void> Seen::update(const std::function<void(SeenState&)>& change) {
  const std::lock_guard guard(mutex_);
  SeenState changed = state_;
  change(changed);
  if (changed == state_) return {};
  state_ = std::move(changed);
  if (path_.empty()) return {};
  EPI_TRY(make_private_folder(path_.parent_path()));
  const auto lock = FileLock::acquire(path_);
  EPI_TRY(lock);
  auto stored = read_file();
  EPI_TRY(stored);
  change(*stored);
  EPI_TRY(write_file(path_, seen_text(*stored), 0600));
  state_ = std::move(*stored);
  return {};
}

}  // namespace epi::hub
