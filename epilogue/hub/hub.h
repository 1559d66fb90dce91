// SPDX-License-Identifier: Apache-2.0
// Selects the variant of a package for this machine, explains why the others are refused, and
// fetches and checks the selected one. Does not execute any of its code; see kernel.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/hub/source.h"
#include "epilogue/hub/trust.h"
#include "epilogue/hub/variant.h"

namespace epi::hub {

// "epilogue/glu@1"
struct PackageName {
  std::string name;
  int64_t version = 0;
};
Result<PackageName> parse_package_name(std::string_view text);

// Package sources, in search order, and trust settings.
struct Options {
  std::vector<std::string> sources;
  Trust trust;
  bool refetch_damaged = false;  // fetch a stored copy again if it was modified
  FetchProgress progress{};
};

// User settings. An empty member falls back to an environment variable and then to a default.
struct Settings {
  std::vector<std::string> sources{};             // EPILOGUE_HUB (by spaces), built packages
  std::string policy{};                           // EPILOGUE_TRUST, "require"
  std::vector<std::filesystem::path> keyrings{};  // EPILOGUE_KEYRING, the build's and the user's
  bool use_lock = true;
  std::optional<std::filesystem::path> lock{};  // EPILOGUE_LOCK, none
  bool lock_must_exist = true;
  bool allow_downgrade = false;
};
// Resolves the settings. Reads the keyrings, the lock, and what was seen of packages before.
Result<Options> make_options(const Settings& settings = {});

// The folder of the packages that were built with this library: relative to the program or to
// libepilogue.so, or in the install location. Returns nothing if there is no such folder.
std::optional<std::filesystem::path> built_packages();

struct Decision {
  std::string variant;
  std::string refusal;  // empty: accepted
  bool chosen = false;
};

struct Resolution {
  PackageName package;
  std::string source;
  std::vector<Decision> decisions;       // the best first, refused ones last
  std::optional<CheckedVariant> chosen;  // none if every variant is refused
  std::filesystem::path folder;          // of the chosen variant
};
// Fails if the package does not exist or cannot be read. The chosen variant may be used only if it
// has no violations.
Result<Resolution> resolve(const PackageName& package, const Host& host, const Options& options);

// Why no variant can be used: every variant with its reason, or every violation. Empty if the
// chosen variant may be used.
std::string refusal_text(const Resolution& resolution);

// The first source that has the package, and its variants. Violations are reasons why the source's
// index is refused; the package must not be used then. With a `host`, skips the request to a remote
// source if the lock pins a variant that the cache holds.
struct Located {
  std::unique_ptr<Source> source;
  std::vector<std::string> variants;
  std::vector<std::string> violations;
  std::vector<std::string> warnings;
};
Result<Located> locate(const PackageName& package, const Options& options,
                       const Host* host = nullptr);
// One checked variant, from its folder or the cache, or fetched.
struct Obtained {
  CheckedVariant variant;
  std::filesystem::path folder;
};
Result<Obtained> obtain(const Source& source, const VariantName& name, const Options& options);

}  // namespace epi::hub
