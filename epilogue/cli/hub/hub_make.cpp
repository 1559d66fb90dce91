// SPDX-License-Identifier: Apache-2.0
// `epilogue hub build`, `sign`, `index`, `keygen` and `revoke`.

#include <fmt/format.h>

#include <filesystem>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/cli/hub/hub_verbs.h"
#include "epilogue/cli/output.h"
#include "epilogue/hub/assemble.h"
#include "epilogue/hub/file_io.h"
#include "epilogue/hub/keys.h"
#include "epilogue/hub/package_index.h"
#include "epilogue/hub/revocation.h"
#include "epilogue/hub/utc_time.h"
#include "epilogue/verbs/output_rules.h"

namespace epi::cli {
namespace {

std::optional<std::string> expiry_of(const HubVerbFlags& flags) {
  if (flags.expires.empty()) return std::nullopt;
  if (const auto error = hub::time_error(flags.expires); !error.empty()) {
    fail("hub", "--expires: {}", error);
  }
  return flags.expires;
}

}  // namespace

void print_result(const HubVerbFlags& flags, const char* key,
                  const std::vector<std::string>& values, const std::string& text) {
  if (!flags.json) {
    print_out("{}\n", text);
    return;
  }
  JsonWriter json;
  json.begin_object().key("schema").integer(1);
  texts_json(json, key, values);
  json.end_object();
  print_out("{}\n", json.text());
}

int hub_build(const HubVerbFlags& flags) {
  hub::AssembleOptions options{flags.path, flags.variant, flags.files, flags.out};
  if (!flags.commit.empty()) options.commit = flags.commit;
  options.dirty = flags.dirty;
  options.expires = expiry_of(flags);
  const auto name = hub::assemble(options);
  throw_if_failed(name);
  const std::string folder = (options.out / hub::path_of(*name)).string();
  print_result(flags, "folders", {folder}, fmt::format("{}\n{}", hub::text_of(*name), folder));
  return kDone;
}

int hub_sign(const HubVerbFlags& flags) {
  const auto key = hub::PrivateKey::read(flags.key);
  throw_if_failed(key);
  const auto folders = hub::sign_all(flags.path, *key);
  throw_if_failed(folders);
  std::vector<std::string> names;
  std::string text = "signed with " + key->id();
  for (const auto& folder : *folders) {
    names.push_back(folder.string());
    text += "\n  " + folder.string();
  }
  print_result(flags, "folders", names, text);
  return kDone;
}

int hub_index(const HubVerbFlags& flags) {
  const auto key = hub::PrivateKey::read(flags.key);
  throw_if_failed(key);
  std::error_code ignored;
  if (!std::filesystem::is_directory(flags.path, ignored)) {
    fail("hub", "{}: there is no such folder", flags.path);
  }
  throw_if_failed(hub::write_index(flags.path, &*key, expiry_of(flags)));
  const std::string path = (std::filesystem::path(flags.path) / "packages.json").string();
  print_result(flags, "indexes", {path}, fmt::format("signed with {}\n  {}", key->id(), path));
  return kDone;
}

namespace {

// What is added to must be what it is taken for, and not the key itself.
void check_keyring(const HubVerbFlags& flags) {
  std::error_code ignored;
  using std::filesystem::weakly_canonical;
  if (weakly_canonical(flags.keyring, ignored) == weakly_canonical(flags.path, ignored)) {
    fail("hub", "--keyring {}: is the file of the private key", flags.keyring);
  }
  const std::filesystem::path paths[] = {flags.keyring};
  throw_if_failed(hub::Keyring::read(paths));
}

void check_revoked_list(const HubVerbFlags& flags) {
  verbs::refuse_input_as_output("hub", "--list", flags.list, {flags.path});
  if (hub::is_missing(flags.list)) return;
  const auto text = hub::read_trusted_file(flags.list, hub::kMaxRevokedBytes);
  throw_if_failed(text);
  if (hub::Keyring::parse(*text, flags.list)) return;  // a keyring may list revoked keys, too
  throw_if_failed(hub::parse_revocations(*text, flags.list));
}

}  // namespace

int hub_keygen(const HubVerbFlags& flags) {
  const hub::PrivateKey key = hub::PrivateKey::generate();
  const std::string name =
      flags.name.empty() ? std::filesystem::path(flags.path).stem().string() : flags.name;
  if (name.find('\n') != std::string::npos) fail("hub", "--name: must be a single line");
  if (!flags.keyring.empty()) check_keyring(flags);
  throw_if_failed(key.save(flags.path));
  const std::string line = hub::keyring_line(key.id(), name);
  const auto added = flags.keyring.empty() ? Result<void>() : hub::add_line(flags.keyring, line);
  if (!added) {
    std::error_code ignored;
    std::filesystem::remove(flags.path, ignored);
    throw Error(added.error().message);
  }
  print_result(flags, "keys", {key.id()},
               fmt::format("private key: {}\nkeyring line: {}", flags.path,
                           line.substr(0, line.size() - 1)));
  return kDone;
}

int hub_revoke(const HubVerbFlags& flags) {
  const auto key = hub::PrivateKey::read(flags.path);
  throw_if_failed(key);
  const std::string line = hub::revocation_line(*key);
  if (!flags.list.empty()) check_revoked_list(flags);
  if (!flags.list.empty()) throw_if_failed(hub::add_line(flags.list, line));
  print_result(flags, "keys", {key->id()},
               flags.list.empty() ? line.substr(0, line.size() - 1)
                                  : fmt::format("revoked {}\n  {}", key->id(), flags.list));
  return kDone;
}

}  // namespace epi::cli
