// SPDX-License-Identifier: Apache-2.0
// Package sources and trust settings: the flags shared by `hub` and `run --kernels`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "epilogue/cli/command.h"
#include "epilogue/hub/hub.h"
#include "epilogue/hub/kernel.h"

namespace epi::cli {

struct HubFlags {
  std::vector<std::string> sources;
  std::string trust;
  std::vector<std::string> keyrings;
  std::string lock;
  bool allow_downgrade = false;
};

// --source, --trust, --keyring, --lock and --allow-downgrade.
void add_hub_options(Command& verb, HubFlags& flags);

hub::Settings settings_of(const HubFlags& flags);
// The lock file: of the flag, else EPILOGUE_LOCK, else epilogue.lock in the current folder.
std::filesystem::path lock_path(const HubFlags& flags);
// Throws `Error` if a source, keyring or lock cannot be read.
hub::Options hub_options(const HubFlags& flags);
hub::PackageName package_of(const std::string& text);

// Resolves, verifies and loads a package, and prints its warnings on standard error. Throws
// `Refused` if it is not trusted, and `Error` if it does not exist or does not run on this machine.
hub::Kernels load_kernels(const std::string& package, Device device, const HubFlags& flags);

}  // namespace epi::cli
