// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/lock.h"

#include <algorithm>

#include "epilogue/base/file_lock.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/base/result.h"
#include "epilogue/hub/file_io.h"
#include "epilogue/hub/json_fields.h"
#include "epilogue/hub/manifest.h"
#include "epilogue/hub/variant.h"

namespace epi::hub {
namespace {

constexpr int64_t kMaxLockBytes = 64 << 20;

LockedVariant read_variant(const JsonField& field) {
  LockedVariant variant;
  variant.manifest = field.at("manifest").hash();
  for (const auto& [path, hash] : field.at("files").members()) {
    if (const auto objection = path_error(path); !objection.empty()) hash.refuse(objection);
    variant.files[path] = hash.hash();
  }
  return variant;
}

LockedPackage read_package(const JsonField& field) {
  LockedPackage package;
  package.name = field.at("name").text();
  if (const auto objection = name_error(package.name); !objection.empty()) {
    field.at("name").refuse(objection);
  }
  package.version = field.at("version").integer();
  const JsonField key = field.at("key");
  if (!key.is_null()) package.key = key.hash();
  for (const auto& [name, variant] : field.at("variants").members()) {
    if (const auto parsed = parse_variant(name); !parsed) variant.refuse(parsed.error().message);
    package.variants[name] = read_variant(variant);
  }
  return package;
}

void append(JsonWriter& json, const LockedPackage& package) {
  json.begin_object().key("name").string(package.name).key("version").integer(package.version);
  json.key("key");
  package.key.empty() ? json.null() : json.string(package.key);
  json.key("variants").begin_object();
  for (const auto& [name, variant] : package.variants) {
    json.key(name).begin_object().key("manifest").string(variant.manifest);
    json.key("files").begin_object();
    for (const auto& [path, hash] : variant.files) json.key(path).string(hash);
    json.end_object().end_object();
  }
  json.end_object().end_object();
}

}  // namespace

const LockedPackage* Lock::find(std::string_view name, int64_t version) const {
  const auto found = std::ranges::find_if(packages, [&](const LockedPackage& package) {
    return package.name == name && package.version == version;
  });
  return found == packages.end() ? nullptr : &*found;
}

Result<Lock> parse_lock(std::string_view text, std::string_view path) {
  return read_json(text, path, [&](const JsonField& root) {
    Lock lock{std::string(path), {}};
    for (const JsonField& item : root.at("packages").items()) {
      lock.packages.push_back(read_package(item));
      const LockedPackage& last = lock.packages.back();
      if (lock.find(last.name, last.version) != &last) item.refuse("duplicate package");
    }
    return lock;
  });
}

Result<std::optional<Lock>> read_lock(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto status = std::filesystem::symlink_status(path, ignored);
  if (status.type() == std::filesystem::file_type::not_found) return std::optional<Lock>();
  const auto text = read_user_file(path, kMaxLockBytes);
  EPI_TRY(text);
  auto lock = parse_lock(*text, path.string());
  EPI_TRY(lock);
  return std::optional<Lock>(std::move(*lock));
}

Result<void> write_lock(const Lock& lock) {
  JsonWriter json;
  json.begin_object().key("packages").begin_array();
  for (const LockedPackage& package : lock.packages) append(json, package);
  json.end_array().end_object();
  return write_file(lock.path, json_indented(json.text()));
}

Result<void> add_to_lock(const std::filesystem::path& path, std::vector<LockedPackage> packages) {
  EPI_TRY(make_folders(path.parent_path()));
  const auto held = FileLock::acquire(path);
  EPI_TRY(held);
  const auto before = read_lock(path);
  EPI_TRY(before);
  Lock lock = before->value_or(Lock{});
  lock.path = path.string();
  for (LockedPackage& added : packages) {
    std::erase_if(lock.packages, [&](const LockedPackage& package) {
      return package.name == added.name && package.version == added.version;
    });
    lock.packages.push_back(std::move(added));
  }
  std::ranges::sort(lock.packages, {}, [](const LockedPackage& package) {
    return std::pair(package.name, package.version);
  });
  return write_lock(lock);
}

}  // namespace epi::hub
