// SPDX-License-Identifier: Apache-2.0
// Where packages are looked for and whom we trust, from the user's settings, the environment, and
// what was built or installed with this library.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "epilogue/base/result.h"
#include "epilogue/hub/hub.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

// A keyring that is found by its place must be the user's or root's: nobody else may put one there.
bool is_ours(const fs::path& keyring) {
  struct stat status = {};
  return ::stat(keyring.c_str(), &status) == 0 &&
         (status.st_uid == 0 || status.st_uid == ::geteuid());
}

// XDG_CONFIG_HOME/epilogue/keyring, else ~/.config/epilogue/keyring.
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

}  // namespace

std::optional<fs::path> built_packages() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder : {program / "../kernels", program / "../share/epilogue/kernels",
                                 fs::path(EPI_INSTALLED_KERNELS), fs::path(EPI_BUILT_KERNELS)}) {
    if (is_ours(folder / "keyring")) return fs::weakly_canonical(folder, error);
  }
  return std::nullopt;
}

fs::path lock_path(const Settings& settings) {
  if (settings.lock) return *settings.lock;
  return environment("EPILOGUE_LOCK").value_or("epilogue.lock");
}

Result<Options> make_options(const Settings& settings) {
  Options options;
  options.sources = sources_of(settings);
  const std::string policy = !settings.policy.empty()
                                 ? settings.policy
                                 : environment("EPILOGUE_TRUST").value_or("require");
  const auto known = policy_from_name(policy);
  if (!known) return failure("trust \"{}\": require, warn or off is needed", policy);
  options.trust.policy = *known;
  const auto paths = keyrings_of(settings);
  // Those that were asked for by name must be there.
  const bool named = !settings.keyrings.empty() || environment("EPILOGUE_KEYRING");
  for (const fs::path& path : paths) {
    std::error_code ignored;
    if (named && !fs::exists(path, ignored)) return failure("{}: no such keyring", path.string());
  }
  auto keyring = Keyring::read(paths);
  EPI_TRY(keyring);
  options.trust.keyring = std::move(*keyring);
  if (!settings.use_lock) return options;
  auto lock = read_lock(lock_path(settings));
  EPI_TRY(lock);
  // One that was asked for by name must be there; that of this folder may be.
  if (!*lock && (settings.lock || environment("EPILOGUE_LOCK"))) {
    return failure("{}: there is no such file", lock_path(settings).string());
  }
  options.trust.lock = std::move(*lock);
  return options;
}

}  // namespace epi::hub
