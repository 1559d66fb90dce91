// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/join.h"
#include "epilogue/base/result.h"
#include "epilogue/hub/hub.h"
#include "epilogue/hub/open_source.h"
#include "epilogue/hub/package_index.h"
#include "epilogue/hub/parse_count.h"
#include "epilogue/hub/store.h"
#include "epilogue/kernel_abi.h"

namespace epi::hub {
namespace {

struct Candidate {
  std::string variant;
  VariantMatch judgement;
};

// Judges all variants. The best comes first, refused ones last.
std::vector<Candidate> rank_variants(const std::vector<std::string>& variants, const Host& host) {
  std::vector<Candidate> candidates;
  for (const std::string& name : variants) {
    const auto variant = parse_variant(name);
    candidates.push_back(
        {name, variant ? match_variant(*variant, host) : VariantMatch{"not a valid variant name"}});
  }
  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    const bool a_runs = a.judgement.refusal.empty();
    const bool b_runs = b.judgement.refusal.empty();
    if (a_runs != b_runs) return a_runs;
    return a_runs && a.judgement.rank > b.judgement.rank;
  });
  return candidates;
}

// Checks requirements that are not part of the variant's name.
std::string manifest_refusal(const Manifest& manifest, const Host& host) {
  if (EPI_KERNEL_ABI > manifest.abi_most) {
    return fmt::format("needs ABI {} to {}, this library has {}", manifest.abi_least,
                       manifest.abi_most, EPI_KERNEL_ABI);
  }
  if (manifest.least_driver && *manifest.least_driver > host.driver) {
    return fmt::format("needs a driver for CUDA {}, this one is for {}",
                       driver_text(*manifest.least_driver), driver_text(host.driver));
  }
  return "";
}

std::vector<std::string> locked_variants(const LockedPackage& package) {
  std::vector<std::string> names;
  for (const auto& [name, variant] : package.variants) names.push_back(name);
  return names;
}

// Returns a cached copy with exactly the locked manifest. A damaged copy is returned only if it
// must not be refetched.
Result<std::optional<Obtained>> stored_as_locked(const VariantName& name, const Options& options) {
  const LockedPackage* lock = options.trust.find_locked(name.package, name.version);
  if (lock == nullptr) return std::nullopt;
  const auto variant = lock->variants.find(name.variant);
  if (variant == lock->variants.end()) return std::nullopt;
  const auto folders = stored_folders(variant->second.manifest);
  EPI_TRY(folders);
  std::optional<Obtained> damaged;
  for (const auto& folder : *folders) {
    Obtained stored{check_variant(name, folder, options.trust), folder};
    if (stored.variant.is_trusted()) return stored;
    if (!options.refetch_damaged) damaged = std::move(stored);
  }
  return damaged;
}

// Whether the cache holds the best of the locked variants, so that no source is needed.
Result<bool> is_stored(const PackageName& package, const Host& host, const Options& options) {
  const LockedPackage* lock = options.trust.find_locked(package.name, package.version);
  if (lock == nullptr) return false;
  const auto best = rank_variants(locked_variants(*lock), host);
  if (best.empty() || !best[0].judgement.refusal.empty()) return false;
  const auto stored = stored_as_locked({package.name, package.version, best[0].variant}, options);
  EPI_TRY(stored);
  return stored->has_value();
}

// A server must not hide a version of the package that was seen before. Only signed indexes count.
void check_newest(const PackageName& package, const Trust& trust, const CheckedIndex& index,
                  Located& located) {
  const int64_t newest = index.packages.at(package.name).rbegin()->first;
  const auto versions = trust.seen->state().versions;
  const auto seen = versions.find(package.name);
  if (seen != versions.end() && newest < seen->second && !trust.allow_downgrade) {
    located.violations.push_back(
        fmt::format("packages.json: the newest version of {} is {}, but version {} was seen "
                    "before: use an existing lock, or allow_downgrade to accept it",
                    package.name, newest, seen->second));
    return;
  }
  const auto stored = trust.seen->update([&](SeenState& state) {
    int64_t& version = state.versions[package.name];
    version = trust.allow_downgrade ? newest : std::max(version, newest);
  });
  if (!stored) {
    located.warnings.push_back("the version is not remembered: " + stored.error().message);
  }
}

// The package in one source. No variants and no violations: the source does not have it.
Result<Located> locate_in(std::unique_ptr<Source> source, const PackageName& package,
                          const Options& options) {
  Located located{std::move(source), {}, {}, {}};
  const bool is_remote = located.source->is_remote();
  const LockedPackage* lock = options.trust.find_locked(package.name, package.version);
  auto index = list_packages(*located.source, options.trust);
  // The lock lists the variants if the server cannot be reached or its index is not trusted.
  if (is_remote && lock != nullptr && (!index || !index->violations.empty())) {
    located.variants = locked_variants(*lock);
    return located;
  }
  EPI_TRY(index);
  located.violations = std::move(index->violations);
  located.warnings = std::move(index->warnings);
  located.variants = index->packages[package.name][package.version];
  if (is_remote && lock == nullptr && options.trust.remembers(index->key) &&
      !located.variants.empty()) {
    check_newest(package, options.trust, *index, located);
  }
  return located;
}

}  // namespace

Result<PackageName> parse_package_name(std::string_view text) {
  const size_t at = text.find('@');
  PackageName package{std::string(text.substr(0, at)), 0};
  if (const auto objection = name_error(package.name); !objection.empty()) {
    return failure("{}: {}", text, objection);
  }
  const auto version =
      at == std::string_view::npos ? std::nullopt : parse_count(text.substr(at + 1));
  if (!version) {
    return failure("{}: missing or invalid version, must be an integer: {}@1", text, package.name);
  }
  package.version = *version;
  return package;
}

Result<Located> locate(const PackageName& package, const Options& options, const Host* host) {
  for (const std::string& text : options.sources) {
    auto source = open_source(text);
    EPI_TRY(source);
    if ((*source)->is_remote() && host != nullptr) {
      const auto stored = is_stored(package, *host, options);
      EPI_TRY(stored);
      const LockedPackage* lock = options.trust.find_locked(package.name, package.version);
      if (*stored) return Located{std::move(*source), locked_variants(*lock), {}, {}};
    }
    auto located = locate_in(std::move(*source), package, options);
    EPI_TRY(located);
    if (!located->variants.empty() || !located->violations.empty()) return located;
  }
  if (options.sources.empty()) {
    return failure("{}@{}: no package source is set: set sources, or EPILOGUE_HUB", package.name,
                   package.version);
  }
  return failure("{}@{}: not in {}", package.name, package.version, join(options.sources, ", "));
}

Result<Obtained> obtain(const Source& source, const VariantName& name, const Options& options) {
  if (!source.is_remote()) {
    const std::filesystem::path folder = source.folder() / path_of(name);
    return Obtained{check_variant(name, folder, options.trust), folder};
  }
  auto stored = stored_as_locked(name, options);
  EPI_TRY(stored);
  if (*stored) return std::move(**stored);
  auto fetched =
      fetch_variant(source, name, options.trust, options.refetch_damaged, options.progress);
  EPI_TRY(fetched);
  return Obtained{std::move(fetched->variant), fetched->folder};
}

Result<Resolution> resolve(const PackageName& package, const Host& host, const Options& options) {
  auto located = locate(package, options, &host);
  EPI_TRY(located);
  Resolution resolution{package, located->source->name(), {}, std::nullopt, {}};
  if (!located->violations.empty()) {
    resolution.chosen.emplace();
    resolution.chosen->checked.violations = std::move(located->violations);
    return resolution;
  }
  const LockedPackage* lock = options.trust.find_locked(package.name, package.version);
  for (const auto& [variant, judgement] : rank_variants(located->variants, host)) {
    Decision decision{variant, judgement.refusal};
    if (lock != nullptr && !lock->variants.contains(variant) && decision.refusal.empty()) {
      decision.refusal = fmt::format("not in {}", options.trust.lock->path);
    }
    if (decision.refusal.empty() && !resolution.chosen) {
      auto obtained = obtain(*located->source, {package.name, package.version, variant}, options);
      EPI_TRY(obtained);
      // An untrusted variant is chosen and then refused, not skipped, so that the user notices it.
      if (obtained->variant.is_trusted()) {
        decision.refusal = manifest_refusal(*obtained->variant.checked.manifest, host);
      }
      decision.chosen = decision.refusal.empty();
      if (decision.chosen) {
        resolution.folder = obtained->folder;
        resolution.chosen = std::move(obtained->variant);
        auto& warnings = resolution.chosen->checked.warnings;
        warnings.insert(warnings.end(), located->warnings.begin(), located->warnings.end());
      }
    }
    resolution.decisions.push_back(std::move(decision));
  }
  return resolution;
}

std::string refusal_text(const Resolution& resolution) {
  const std::string package =
      fmt::format("{}@{}", resolution.package.name, resolution.package.version);
  if (!resolution.chosen) {
    std::string text = fmt::format("{}: no variant runs here:", package);
    for (const Decision& decision : resolution.decisions) {
      text += fmt::format("\n  {}: {}", decision.variant, decision.refusal);
    }
    return text;
  }
  if (resolution.chosen->is_trusted()) return "";
  std::string text = fmt::format("{}: refused:", package);
  for (const std::string& violation : resolution.chosen->checked.violations) {
    text += "\n  " + violation;
  }
  return text;
}

}  // namespace epi::hub
