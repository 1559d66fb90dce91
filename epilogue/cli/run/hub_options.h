// SPDX-License-Identifier: Apache-2.0
// Where a verb looks for packages and whom it trusts: flags that `hub` and `run --kernels` share.
#pragma once

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
};

// --source, --trust, --keyring and --lock.
void add_hub_options(Command& verb, HubFlags& flags);

hub::Settings settings_of(const HubFlags& flags);
// Throws `Error` for what cannot be read.
hub::Options hub_options(const HubFlags& flags);
hub::PackageName package_of(const std::string& text);

// Resolves, checks and loads a package; what is only doubted goes to standard error. Throws
// `Refused` where it is not trusted, `Error` where it is not there or does not run here.
hub::Kernels load_kernels(const std::string& package, Device device, const HubFlags& flags);

}  // namespace epi::cli
