// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "epilogue/hub/hub.h"
#include "epilogue/hub/store.h"
#include "epilogue/kernel_abi.h"

namespace epi::hub {
namespace {

struct Candidate {
  std::string variant;
  Judgement judgement;
};

// Accepted ones first, the best of them in front.
std::vector<Candidate> judged(const std::vector<std::string>& variants, const Host& host) {
  std::vector<Candidate> candidates;
  for (const std::string& name : variants) {
    const auto variant = parse_variant(name);
    candidates.push_back({name, variant ? judge(*variant, host) : Judgement{"not a variant"}});
  }
  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    const bool a_runs = a.judgement.refusal.empty();
    const bool b_runs = b.judgement.refusal.empty();
    if (a_runs != b_runs) return a_runs;
    return a_runs && a.judgement.rank > b.judgement.rank;
  });
  return candidates;
}

// What only the manifest says.
std::string objection_of(const Manifest& manifest, const Host& host) {
  if (EPI_KERNEL_ABI < manifest.abi_least || EPI_KERNEL_ABI > manifest.abi_most) {
    return fmt::format("needs ABI {} to {}, this library has {}", manifest.abi_least,
                       manifest.abi_most, EPI_KERNEL_ABI);
  }
  if (manifest.least_driver && *manifest.least_driver > host.driver) {
    return fmt::format("needs a driver for CUDA {}, this one is for {}",
                       driver_text(*manifest.least_driver), driver_text(host.driver));
  }
  return "";
}

// The variants that the lock holds are the ones that there are: nobody needs to be asked.
const LockedPackage* locked(const PackageName& package, const Options& options) {
  return options.trust.lock ? options.trust.lock->find(package.name, package.version) : nullptr;
}

Result<std::vector<std::string>> variants_in(const Source& source, const PackageName& package,
                                             const Options& options) {
  std::vector<std::string> variants;
  const LockedPackage* lock = locked(package, options);
  if (source.is_remote() && lock != nullptr) {
    for (const auto& [name, variant] : lock->variants) variants.push_back(name);
    return variants;
  }
  auto index = source.index();
  if (!index) return tl::unexpected(index.error());
  const auto versions = index->find(package.name);
  if (versions == index->end()) return variants;
  const auto found = versions->second.find(package.version);
  return found == versions->second.end() ? variants : found->second;
}

// A copy of exactly the locked manifest.
std::optional<std::filesystem::path> stored_as_locked(const VariantName& name,
                                                      const Options& options) {
  const LockedPackage* lock = locked({name.package, name.version}, options);
  if (lock == nullptr || options.again) return std::nullopt;
  const auto variant = lock->variants.find(name.variant);
  if (variant == lock->variants.end()) return std::nullopt;
  const auto folder = stored_folder(variant->second.manifest);
  std::error_code ignored;
  return folder && std::filesystem::is_directory(*folder, ignored) ? folder : std::nullopt;
}

}  // namespace

Result<PackageName> parse_package_name(std::string_view text) {
  const size_t at = text.find('@');
  PackageName package{std::string(text.substr(0, at)), 0};
  if (const auto no = name_objection(package.name); !no.empty()) return failure("{}: {}", text, no);
  const std::string_view digits = at == std::string_view::npos ? "" : text.substr(at + 1);
  const auto parsed =
      std::from_chars(digits.data(), digits.data() + digits.size(), package.version);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() ||
      package.version < 0) {
    return failure("{}: a version is needed, a whole number: {}@1", text, package.name);
  }
  return package;
}

Result<Located> locate(const PackageName& package, const Options& options) {
  for (const std::string& text : options.sources) {
    auto source = open_source(text);
    if (!source) return tl::unexpected(source.error());
    auto variants = variants_in(**source, package, options);
    if (!variants) return tl::unexpected(variants.error());
    if (!variants->empty()) return Located{std::move(*source), std::move(*variants)};
  }
  if (options.sources.empty()) {
    return failure("{}@{}: there is no source of packages: --source, or EPILOGUE_HUB", package.name,
                   package.version);
  }
  return failure("{}@{}: not in {}", package.name, package.version,
                 fmt::format("{}", fmt::join(options.sources, ", ")));
}

Result<CheckedVariant> obtain(const Source& source, const VariantName& name, const Options& options,
                              std::filesystem::path* folder) {
  std::filesystem::path at = source.folder() / path_of(name);
  if (source.is_remote()) {
    if (const auto stored = stored_as_locked(name, options)) {
      at = *stored;
    } else {
      auto fetched = fetch_variant(source, name, options.trust, options.again, options.progress);
      if (!fetched) return tl::unexpected(fetched.error());
      if (!fetched->checked.violations.empty())
        return CheckedVariant{std::move(fetched->checked), {}};
      at = fetched->folder;
    }
  }
  if (folder != nullptr) *folder = at;
  return check_variant(name, at, options.trust);
}

Result<Resolution> resolve(const PackageName& package, const Host& host, const Options& options) {
  auto located = locate(package, options);
  if (!located) return tl::unexpected(located.error());
  Resolution resolution{package, located->source->name(), {}, std::nullopt, {}};
  for (const auto& [variant, judgement] : judged(located->variants, host)) {
    Decision decision{variant, judgement.refusal};
    if (decision.refusal.empty() && !resolution.chosen) {
      auto obtained = obtain(*located->source, {package.name, package.version, variant}, options,
                             &resolution.folder);
      if (!obtained) return tl::unexpected(obtained.error());
      const auto& manifest = obtained->checked.manifest;
      // One that is not trusted is not passed over: somebody should look at it.
      if (obtained->is_trusted()) decision.refusal = objection_of(*manifest, host);
      decision.chosen = decision.refusal.empty();
      if (decision.chosen) resolution.chosen = std::move(*obtained);
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
