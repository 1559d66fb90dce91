// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/run/hub_options.h"

#include <cstdlib>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/output.h"

namespace epi::cli {

void add_hub_options(Command& verb, HubFlags& flags) {
  verb.add("--source", flags.sources, "Folder or file:, http:, https: URL (repeatable)")
      .value_name("WHERE")
      .repeatable();
  verb.add("--trust", flags.trust, "Signature policy (require)").value_name("require|warn|off");
  verb.add("--keyring", flags.keyrings, "File of trusted keys (repeatable)")
      .value_name("FILE")
      .repeatable();
  verb.add("--lock", flags.lock, "Lock file (epilogue.lock, if present)").value_name("FILE");
  verb.add("--allow-downgrade", flags.allow_downgrade,
           "Accept a server's older release of a package");
}

std::filesystem::path lock_path(const HubFlags& flags) {
  if (!flags.lock.empty()) return flags.lock;
  const char* named = std::getenv("EPILOGUE_LOCK");
  return named != nullptr && *named != '\0' ? named : "epilogue.lock";
}

hub::Settings settings_of(const HubFlags& flags) {
  hub::Settings settings;
  settings.sources = flags.sources;
  settings.policy = flags.trust;
  settings.keyrings.assign(flags.keyrings.begin(), flags.keyrings.end());
  settings.lock = lock_path(flags);
  const char* named = std::getenv("EPILOGUE_LOCK");
  settings.lock_must_exist = !flags.lock.empty() || (named != nullptr && *named != '\0');
  settings.allow_downgrade = flags.allow_downgrade;
  return settings;
}

hub::Options hub_options(const HubFlags& flags) {
  auto options = hub::make_options(settings_of(flags));
  throw_if_failed(options);
  return std::move(*options);
}

hub::PackageName package_of(const std::string& text) {
  auto package = hub::parse_package_name(text);
  throw_if_failed(package);
  return std::move(*package);
}

hub::Kernels load_kernels(const std::string& package, Device device, const HubFlags& flags) {
  const auto resolution =
      hub::resolve(package_of(package), hub::this_host(device), hub_options(flags));
  throw_if_failed(resolution);
  if (resolution->chosen && !resolution->chosen->is_trusted()) {
    throw Refused(hub::refusal_text(*resolution));
  }
  if (!resolution->chosen) throw ListError(hub::refusal_text(*resolution));
  auto kernels = hub::load(*resolution, device);
  throw_if_failed(kernels);
  for (const std::string& warning : kernels->warnings()) {
    print_error("epilogue: {}: {}\n", package, warning);
  }
  return std::move(*kernels);
}

}  // namespace epi::cli
