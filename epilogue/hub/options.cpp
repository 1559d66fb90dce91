// SPDX-License-Identifier: Apache-2.0
// Determines package sources and trust settings from the user's settings, the environment, and the
// packages built or installed with this library.
#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <sstream>

#include "epilogue/base/result.h"
#include "epilogue/hub/http_source.h"
#include "epilogue/hub/hub.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

// XDG_CONFIG_HOME/epilogue/keyring, or ~/.config/epilogue/keyring if XDG_CONFIG_HOME is not set.
std::optional<fs::path> user_keyring() {
  if (const auto config = environment("XDG_CONFIG_HOME")) {
    return fs::path(*config) / "epilogue" / "keyring";
  }
  if (const auto home = environment("HOME")) {
    return fs::path(*home) / ".config" / "epilogue" / "keyring";
  }
  return std::nullopt;
}

std::vector<fs::path> keyrings_of(const Settings& settings) {
  if (!settings.keyrings.empty()) return settings.keyrings;
  if (const auto chosen = environment("EPILOGUE_KEYRING")) return {*chosen};
  std::vector<fs::path> paths;
  if (const auto built = built_packages()) paths.push_back(*built / "keyring");
  if (const auto user = user_keyring()) paths.push_back(*user);
  return paths;
}

std::vector<std::string> sources_of(const Settings& settings) {
  if (!settings.sources.empty()) return settings.sources;
  std::vector<std::string> sources;
  if (const auto chosen = environment("EPILOGUE_HUB")) {
    std::istringstream words(*chosen);
    for (std::string word; words >> word;) sources.push_back(word);
    return sources;
  }
  if (const auto built = built_packages()) sources.push_back(built->string());
  return sources;
}

// The folder of libepilogue.so, or nothing if this code is part of the program, which has no name
// here. A name that is relative to the current folder is not used.
std::optional<fs::path> library_folder() {
  Dl_info info{};
  link_map* library = nullptr;
  const auto* here = reinterpret_cast<const void*>(&built_packages);
  if (::dladdr1(here, &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0) {
    return std::nullopt;
  }
  const fs::path name = library->l_name;
  if (!name.is_absolute()) return std::nullopt;
  std::error_code error;
  return fs::weakly_canonical(name, error).parent_path();
}

}  // namespace

// Searches beside the program and libepilogue.so first, so that an installation can be moved. The
// build folder is not searched by its name: an installed library must not trust a folder that
// another user may create.
std::optional<fs::path> built_packages() {
  const fs::path share = "share/epilogue/kernels";
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<fs::path> folders{program / "../kernels", program / ".." / share};
  if (const auto library = library_folder()) {
    // In lib/, or in lib/<architecture>/ as Debian has it.
    folders.insert(folders.end(),
                   {*library / "../kernels", *library / ".." / share, *library / "../.." / share});
  }
  folders.insert(folders.end(), {EPI_INSTALLED_KERNELS, "/usr/local" / share, "/usr" / share});
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / "keyring", error)) return fs::weakly_canonical(folder, error);
  }
  return std::nullopt;
}

Result<Options> make_options(const Settings& settings) {
  EPI_TRY(check_http_environment());
  Options options;
  options.sources = sources_of(settings);
  const std::string policy = !settings.policy.empty()
                                 ? settings.policy
                                 : environment("EPILOGUE_TRUST").value_or("require");
  const auto known = policy_from_name(policy);
  if (!known) return failure("unknown trust policy \"{}\": use require, warn or off", policy);
  options.trust.policy = *known;
  const auto paths = keyrings_of(settings);
  // Keyrings that were set explicitly must exist.
  const bool named = !settings.keyrings.empty() || environment("EPILOGUE_KEYRING");
  for (const fs::path& path : paths) {
    std::error_code ignored;
    if (named && !fs::exists(path, ignored)) return failure("{}: no such keyring", path.string());
  }
  auto keyring = Keyring::read(paths);
  EPI_TRY(keyring);
  options.trust.keyring = std::move(*keyring);
  options.trust.allow_downgrade = settings.allow_downgrade;
  if (const auto path = seen_path()) {
    options.trust.seen = std::make_shared<Seen>(*path);
    EPI_TRY(options.trust.seen->load());
  }
  std::optional<fs::path> path = settings.lock;
  if (const auto variable = environment("EPILOGUE_LOCK"); variable && !path) path = *variable;
  if (!settings.use_lock || !path) return options;
  auto lock = read_lock(*path);
  EPI_TRY(lock);
  if (!*lock && settings.lock_must_exist) {
    return failure("{}: there is no such file", path->string());
  }
  options.trust.lock = std::move(*lock);
  return options;
}

}  // namespace epi::hub
