// SPDX-License-Identifier: Apache-2.0
// `epilogue hub verify`, `get` and `lock`.

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/base/join.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/cli/hub/hub_verbs.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/progress.h"
#include "epilogue/hub/hugging_face.h"
#include "epilogue/hub/store.h"

namespace epi::cli {
namespace {

std::string package_text(const hub::PackageName& package) {
  return fmt::format("{}@{}", package.name, package.version);
}

// The result of `verify` for one variant of a package or of a Hugging Face folder.
struct VerifyResult {
  std::string name;
  std::string key;
  std::vector<std::string> violations;
  std::vector<std::string> warnings;
};

std::vector<VerifyResult> verify_package(const hub::PackageName& package,
                                         const hub::Options& options) {
  const auto located = hub::locate(package, options);
  throw_if_failed(located);
  std::vector<VerifyResult> results;
  if (!located->violations.empty()) {
    return {{package_text(package), "", located->violations, located->warnings}};
  }
  for (const std::string& variant : located->variants) {
    const hub::VariantName name{package.name, package.version, variant};
    const auto obtained = hub::obtain(*located->source, name, options);
    throw_if_failed(obtained);
    const auto& checked = obtained->variant.checked;
    results.push_back({hub::text_of(name), checked.key, checked.violations, checked.warnings});
    auto& warnings = results.back().warnings;
    warnings.insert(warnings.end(), located->warnings.begin(), located->warnings.end());
  }
  const auto* locked = options.trust.find_locked(package.name, package.version);
  if (locked == nullptr) return results;
  for (const auto& [variant, entry] : locked->variants) {
    if (std::ranges::find(located->variants, variant) != located->variants.end()) continue;
    VerifyResult missing{hub::text_of({package.name, package.version, variant}), "", {}, {}};
    missing.violations.push_back(options.trust.lock->path +
                                 ": locked, but missing from the source");
    results.push_back(std::move(missing));
  }
  return results;
}

std::vector<VerifyResult> verify_hugging_face(const std::string& folder) {
  const auto variants = hub::read_hugging_face(folder);
  throw_if_failed(variants);
  std::vector<VerifyResult> results;
  for (const auto& variant : *variants) {
    results.push_back({fmt::format("{} {}", folder, variant.variant), "", variant.violations, {}});
    if (variant.has_bundle) {
      results.back().warnings.emplace_back("metadata.json.sigstore: signature not checked");
    }
  }
  return results;
}

void print_verified(const std::vector<VerifyResult>& results) {
  for (const VerifyResult& result : results) {
    print_wrapped(result.violations.empty() ? "ok      " : "REFUSED ", result.name);
    for (const std::string& violation : result.violations) print_wrapped("  ", violation);
    for (const std::string& warning : result.warnings) print_wrapped("  warning: ", warning);
  }
}

void verified_json(const std::vector<VerifyResult>& results, bool ok) {
  JsonWriter json;
  json.begin_object().key("schema").integer(1).key("ok").boolean(ok);
  json.key("variants").begin_array();
  for (const VerifyResult& result : results) {
    json.begin_object().key("name").string(result.name);
    json.key("ok").boolean(result.violations.empty()).key("key");
    result.key.empty() ? json.null() : json.string(result.key);
    texts_json(json, "violations", result.violations);
    texts_json(json, "warnings", result.warnings);
    json.end_object();
  }
  json.end_array().end_object();
  print_out("{}\n", json.text());
}

// The lock entry for all variants of a package in their current state. Fetches only manifests from
// a server.
hub::LockedPackage lock_package(const hub::PackageName& package, const hub::Options& options) {
  const auto located = hub::locate(package, options);
  throw_if_failed(located);
  throw_if_refused(package, *located);
  hub::LockedPackage locked{package.name, package.version, "", {}};
  bool first = true;
  for (const std::string& variant : located->variants) {
    const hub::VariantName name{package.name, package.version, variant};
    const auto checked = hub::read_manifest(*located->source, name, options.trust);
    throw_if_failed(checked);
    if (!checked->violations.empty()) {
      throw Refused(
          fmt::format("{}: refused:\n  {}", hub::text_of(name), join(checked->violations, "\n  ")));
    }
    if (!first && checked->key != locked.key) {
      throw Refused(
          fmt::format("{}: its variants are signed by different keys", package_text(package)));
    }
    first = false;
    locked.key = checked->key;
    hub::LockedVariant& entry = locked.variants[variant];
    entry.manifest = checked->sha256;
    for (const auto& [path, file] : checked->manifest->files) entry.files[path] = file.sha256;
  }
  return locked;
}

}  // namespace

int hub_verify(const HubVerbFlags& flags) {
  std::vector<VerifyResult> results;
  const auto append = [&](std::vector<VerifyResult> more) {
    std::ranges::move(more, std::back_inserter(results));
  };
  const hub::Options options = hub_options(flags.hub);
  for (const std::string& text : flags.packages) {
    append(hub::is_hugging_face(text) ? verify_hugging_face(text)
                                      : verify_package(package_of(text), options));
  }
  if (flags.packages.empty()) {
    if (!options.trust.lock)
      fail("hub", "a package is needed, such as epilogue/glu@1: there is no epilogue.lock");
    for (const hub::LockedPackage& package : options.trust.lock->packages) {
      append(verify_package({package.name, package.version}, options));
    }
  }
  const bool ok =
      std::ranges::all_of(results, [](const VerifyResult& one) { return one.violations.empty(); });
  flags.json ? verified_json(results, ok) : print_verified(results);
  return ok ? kDone : kBroken;
}

int hub_get(const HubVerbFlags& flags) {
  const Device device = device_of(flags);
  hub::Options options = hub_options(flags.hub);
  options.refetch_damaged = true;
  const WaitingLine line(flags.packages.empty() ? "" : flags.packages[0], "fetching");
  const auto resolution = hub::resolve(only_package(flags), hub::this_host(device), options);
  throw_if_failed(resolution);
  const std::string refusal = hub::refusal_text(*resolution);
  if (!refusal.empty() && resolution->chosen) throw Refused(refusal);
  if (!refusal.empty()) throw ListError(refusal);
  const std::string folder = resolution->folder.string();
  print_result(flags, "folders", {folder},
               fmt::format("{} {}\n{}", package_text(resolution->package),
                           resolution->chosen->checked.manifest->variant, folder));
  return kDone;
}

int hub_lock(const HubVerbFlags& flags) {
  if (flags.packages.empty()) fail("hub", "a package is needed: epilogue/glu@1");
  hub::Settings settings = settings_of(flags.hub);
  settings.use_lock = false;  // it is written below
  const auto options = hub::make_options(settings);
  throw_if_failed(options);
  std::vector<hub::LockedPackage> packages;
  for (const std::string& text : flags.packages) {
    packages.push_back(lock_package(package_of(text), *options));
  }
  const std::filesystem::path path = lock_path(flags.hub);
  throw_if_failed(hub::add_to_lock(path, std::move(packages)));
  print_result(flags, "locked", flags.packages, fmt::format("wrote {}", path.string()));
  return kDone;
}

}  // namespace epi::cli
