// SPDX-License-Identifier: Apache-2.0
// Which variant of a package is used here, and why none of the others; checked, and fetched where
// it lies elsewhere. Nothing of it is executed yet: see kernel.h.
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

// Where packages are looked for, in this order, and what is trusted.
struct Options {
  std::vector<std::string> sources;
  Trust trust;
  bool refetch_damaged = false;  // a stored copy that is not what it was is fetched again
  FetchProgress progress{};
};

// What a user may set; empty members mean what the environment says, and else:
struct Settings {
  std::vector<std::string> sources{};             // EPILOGUE_HUB (by spaces), the build's packages
  std::string policy{};                           // EPILOGUE_TRUST, "require"
  std::vector<std::filesystem::path> keyrings{};  // EPILOGUE_KEYRING, the build's and the user's
  bool use_lock = true;
  std::optional<std::filesystem::path> lock{};  // EPILOGUE_LOCK, epilogue.lock in this folder
};
// The keyrings and the lock, read.
Result<Options> make_options(const Settings& settings = {});

// The lock's path by the same rules, whether it exists or not.
std::filesystem::path lock_path(const Settings& settings);
// The folder of the packages that were built with this library: beside the program, or where it was
// installed. None where there is none.
std::optional<std::filesystem::path> built_packages();

struct Decision {
  std::string variant;
  std::string refusal;  // empty: accepted
  bool chosen = false;
};

struct Resolution {
  PackageName package;
  std::string source;
  std::vector<Decision> decisions;       // the best first, then those that are refused
  std::optional<CheckedVariant> chosen;  // none where every variant is refused
  std::filesystem::path folder;          // of the chosen one
};
// A failure for what is not there, or cannot be read. Whether the chosen one may be used is said by
// its violations.
Result<Resolution> resolve(const PackageName& package, const Host& host, const Options& options);

// Why there is nothing to run: every variant with its reason, or every violation. Empty where the
// chosen one may be used.
std::string refusal_text(const Resolution& resolution);

// The first source that has the package, and its variants. For a `host`, what the lock pins and the
// cache holds is not asked for.
struct Located {
  std::unique_ptr<Source> source;
  std::vector<std::string> variants;
};
Result<Located> locate(const PackageName& package, const Options& options,
                       const Host* host = nullptr);
// One variant, checked: in its folder, as it is stored, or fetched.
struct Obtained {
  CheckedVariant variant;
  std::filesystem::path folder;
};
Result<Obtained> obtain(const Source& source, const VariantName& name, const Options& options);

}  // namespace epi::hub
