// SPDX-License-Identifier: Apache-2.0
// `epilogue hub list`, `info` and `why`: the packages of the sources, the contents of one, and the
// variant chosen.

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/base/join.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/hub/hub_verbs.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/run/run_options.h"
#include "epilogue/hub/hugging_face.h"
#include "epilogue/hub/open_source.h"
#include "epilogue/hub/package_index.h"
#include "epilogue/hub/store.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"

namespace epi::cli {
namespace {

struct ListedPackage {
  std::string name;
  int64_t version = 0;
  std::string source;
  std::vector<std::string> variants;
};

std::vector<ListedPackage> list_all(const hub::Options& options) {
  std::vector<ListedPackage> rows;
  for (const std::string& text : options.sources) {
    const auto source = hub::open_source(text);
    throw_if_failed(source);
    const auto index = hub::list_packages(**source, options.trust);
    throw_if_failed(index);
    if (!index->violations.empty()) {
      throw Refused(fmt::format("{}: refused:\n  {}", text, join(index->violations, "\n  ")));
    }
    for (const std::string& warning : index->warnings) {
      print_error("epilogue: {}: {}\n", text, warning);
    }
    for (const auto& [name, versions] : index->packages) {
      for (const auto& [version, variants] : versions) {
        rows.push_back({name, version, text, variants});
      }
    }
  }
  return rows;
}

constexpr int64_t kMaxShownLimit = int64_t{1} << 30;  // larger limits do not matter in practice

std::string size_rules(const hub::Export& exported) {
  std::string text;
  for (const hub::SizeRule& rule : exported.sizes) {
    if (rule.multiple_of > 1)
      text += fmt::format(", {} a multiple of {}", rule.size, rule.multiple_of);
    if (rule.least > 0) text += fmt::format(", {} at least {}", rule.size, rule.least);
    if (rule.most < kMaxShownLimit) text += fmt::format(", {} at most {}", rule.size, rule.most);
  }
  return text;
}

// "gelu_tanh_and_mul(gate [m, n], up [m, n]) -> out [m, n]"
std::string signature_of(const hub::Export& exported) {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  for (const hub::Operand& operand : exported.operands) {
    (operand.output ? outputs : inputs)
        .push_back(fmt::format("{} [{}, {}]", operand.name, operand.shape[0], operand.shape[1]));
  }
  return fmt::format("{}({}) -> {}", exported.name, join(inputs, ", "), join(outputs, ", "));
}

std::vector<std::string_view> dtype_names(const hub::Export& exported) {
  std::vector<std::string_view> names;
  for (const DType dtype : exported.dtypes) names.push_back(name(dtype));
  return names;
}

std::string layer_text(const hub::Layer& layer) {
  return fmt::format("{} {}: {}", layer.name, layer.activation,
                     layer.pointwise.empty() ? fmt::format("{}, {}", layer.gate_up, layer.down)
                                             : fmt::format("three GEMMs and {}", layer.pointwise));
}

struct InfoVariant {
  std::string name;
  hub::CheckedManifest checked;  // manifest only; `verify` checks the files
};

std::string trust_text(const hub::CheckedManifest& checked, const hub::Options& options) {
  if (!checked.violations.empty()) return "REFUSED: " + checked.violations.front();
  if (checked.key.empty()) return "unsigned, or signed by an unknown key";
  const auto* key = options.trust.keyring.find(checked.key);
  return fmt::format("signed by {}", key->name.empty() ? key->id : key->name);
}

int64_t bytes_of(const hub::Manifest& manifest) {
  int64_t total = 0;
  for (const auto& [path, entry] : manifest.files) total += entry.bytes;
  return total;
}

void print_manifest(const hub::Manifest& manifest) {
  print_wrapped("", fmt::format("{}@{}, {}", manifest.name, manifest.version, manifest.license));
  print_wrapped("source commit ", manifest.commit.value_or("unknown") +
                                      (manifest.dirty ? ", with uncommitted changes" : ""));
  if (manifest.released) print_out("released {}\n", *manifest.released);
  if (manifest.expires) print_out("expires {}\n", *manifest.expires);
  for (const hub::Export& exported : manifest.exports) {
    print_wrapped("  ", signature_of(exported));
    print_wrapped("    ",
                  fmt::format("{}{}{}", join(dtype_names(exported), ", "), size_rules(exported),
                              exported.deterministic ? "; deterministic" : ""));
  }
  for (const hub::Layer& layer : manifest.layers) print_wrapped("  layer ", layer_text(layer));
}

void print_info(const std::string& source, const std::vector<InfoVariant>& variants,
                const hub::Options& options) {
  for (const InfoVariant& variant : variants) {
    if (!variant.checked.manifest) continue;
    print_manifest(*variant.checked.manifest);
    break;
  }
  print_out("\n");
  print_wrapped("", "variants in " + source);
  for (const InfoVariant& variant : variants) {
    const auto& manifest = variant.checked.manifest;
    const std::string bytes =
        manifest ? report::bytes_text(static_cast<double>(bytes_of(*manifest))) : "-";
    print_wrapped(fmt::format("  {:<32} {:>9}  ", variant.name, bytes),
                  trust_text(variant.checked, options));
  }
}

void export_json(JsonWriter& json, const hub::Export& exported) {
  json.begin_object().key("name").string(exported.name);
  json.key("signature").string(signature_of(exported)).key("dtypes").begin_array();
  for (const auto dtype : dtype_names(exported)) json.string(dtype);
  json.end_array().key("sizes").begin_array();
  for (const hub::SizeRule& rule : exported.sizes) {
    json.begin_object().key("size").string(rule.size).key("least").integer(rule.least);
    json.key("most").integer(rule.most).key("multiple_of").integer(rule.multiple_of).end_object();
  }
  json.end_array().key("align_bytes").integer(exported.align_bytes);
  json.key("deterministic").boolean(exported.deterministic).end_object();
}

void manifest_json(JsonWriter& json, const hub::Manifest& manifest) {
  json.begin_object().key("license").string(manifest.license).key("commit");
  manifest.commit ? json.string(*manifest.commit) : json.null();
  json.key("dirty").boolean(manifest.dirty).key("released");
  manifest.released ? json.string(*manifest.released) : json.null();
  json.key("expires");
  manifest.expires ? json.string(*manifest.expires) : json.null();
  json.key("abi_least").integer(manifest.abi_least).key("abi_most").integer(manifest.abi_most);
  json.key("backend").string(manifest.backend).key("targets").begin_array();
  for (const std::string& target : manifest.targets) json.string(target);
  json.end_array().key("least_driver");
  manifest.least_driver ? json.integer(*manifest.least_driver) : json.null();
  json.key("bytes").integer(bytes_of(manifest)).key("files").begin_object();
  for (const auto& [path, entry] : manifest.files) json.key(path).string(entry.sha256);
  json.end_object().key("exports").begin_array();
  for (const hub::Export& exported : manifest.exports) export_json(json, exported);
  json.end_array().key("layers").begin_array();
  for (const hub::Layer& layer : manifest.layers) {
    json.begin_object().key("name").string(layer.name);
    json.key("activation").string(layer.activation).end_object();
  }
  json.end_array().end_object();
}

void info_json(const hub::PackageName& package, const std::string& source,
               const std::vector<InfoVariant>& variants) {
  JsonWriter json;
  json.begin_object().key("schema").integer(1).key("name").string(package.name);
  json.key("version").integer(package.version).key("source").string(source);
  json.key("variants").begin_array();
  for (const InfoVariant& variant : variants) {
    json.begin_object().key("variant").string(variant.name);
    json.key("trusted").boolean(variant.checked.violations.empty()).key("key");
    variant.checked.key.empty() ? json.null() : json.string(variant.checked.key);
    texts_json(json, "violations", variant.checked.violations);
    json.key("manifest");
    variant.checked.manifest ? manifest_json(json, *variant.checked.manifest)
                             : static_cast<void>(json.null());
    json.end_object();
  }
  json.end_array().end_object();
  print_out("{}\n", json.text());
}

int hugging_face_info(const HubVerbFlags& flags, const std::string& folder) {
  const auto variants = hub::read_hugging_face(folder);
  throw_if_failed(variants);
  if (flags.json) {
    JsonWriter json;
    json.begin_object().key("schema").integer(1).key("folder").string(folder);
    json.key("variants").begin_array();
    for (const auto& variant : *variants) {
      json.begin_object().key("variant").string(variant.variant).key("name").string(variant.name);
      json.key("version");
      variant.version ? json.integer(*variant.version) : json.null();
      json.key("backend");
      variant.backend.empty() ? json.null() : json.string(variant.backend);
      json.key("digest");
      variant.algorithm.empty() ? json.null() : json.string(variant.algorithm);
      json.key("ok").boolean(variant.violations.empty()).end_object();
    }
    json.end_array().end_object();
    print_out("{}\n", json.text());
    return kDone;
  }
  const auto& first = variants->front();
  print_wrapped("", fmt::format("{}{}{}, a Hugging Face hub kernel", first.name,
                                first.version ? fmt::format(" version {}", *first.version) : "",
                                first.license.empty() ? "" : ", " + first.license));
  for (const auto& variant : *variants) {
    print_wrapped(
        fmt::format("  {:<40} ", variant.variant),
        fmt::format("{}{}, {}", variant.backend,
                    variant.archs.empty() ? "" : fmt::format(" {}", join(variant.archs, " ")),
                    variant.violations.empty() ? variant.algorithm + " matches"
                                               : variant.violations.front()));
  }
  return kDone;
}

void why_json(const hub::Resolution& resolution, Device device) {
  JsonWriter json;
  json.begin_object().key("schema").integer(1).key("name").string(resolution.package.name);
  json.key("version").integer(resolution.package.version);
  json.key("source").string(resolution.source).key("device").string(name(device));
  json.key("variants").begin_array();
  for (const hub::Decision& decision : resolution.decisions) {
    json.begin_object().key("variant").string(decision.variant);
    json.key("accepted").boolean(decision.refusal.empty());
    json.key("chosen").boolean(decision.chosen);
    json.key("reason");
    decision.refusal.empty() ? json.null() : json.string(decision.refusal);
    json.end_object();
  }
  json.end_array();
  const auto none = std::vector<std::string>();
  texts_json(json, "violations", resolution.chosen ? resolution.chosen->checked.violations : none);
  texts_json(json, "warnings", resolution.chosen ? resolution.chosen->checked.warnings : none);
  json.end_object();
  print_out("{}\n", json.text());
}

void print_why(const hub::Resolution& resolution, Device device) {
  print_wrapped("", fmt::format("{}@{} for {}, from {}", resolution.package.name,
                                resolution.package.version, name(device), resolution.source));
  const bool trusted = resolution.chosen && resolution.chosen->is_trusted();
  for (const hub::Decision& decision : resolution.decisions) {
    const char* accepted = !decision.chosen ? "also runs here"
                           : trusted        ? "chosen: the best variant that runs here"
                                            : "the best variant that runs here, but refused:";
    print_wrapped(fmt::format("  {:<32} ", decision.variant),
                  decision.refusal.empty() ? accepted : decision.refusal);
  }
  if (!resolution.chosen) {
    print_out("nothing to load: no variant runs here\n");
    return;
  }
  const auto& checked = resolution.chosen->checked;
  for (const auto& violation : checked.violations) print_wrapped("REFUSED  ", violation);
  for (const auto& warning : checked.warnings) print_wrapped("warning  ", warning);
  if (checked.violations.empty()) print_wrapped("", "loaded from " + resolution.folder.string());
}

}  // namespace

void print_wrapped(const std::string& start, const std::string& text) {
  constexpr size_t kWidth = 80;
  constexpr size_t kMaxIndent = 45;  // leaves room for a few words
  constexpr size_t kMinIndent = 2;
  if (start.size() > kMaxIndent && start.size() + text.size() > kWidth) {
    print_out("{}\n{}\n", start, report::indented(text, 2 * kMinIndent, kWidth));
    return;
  }
  // The first line is as long as the others without their indent.
  const size_t indent = std::max(start.size(), kMinIndent);
  print_out("{}{}\n", start, report::indented(text, indent, kWidth).substr(indent));
}

void texts_json(JsonWriter& json, const char* key, const std::vector<std::string>& texts) {
  json.key(key).begin_array();
  for (const std::string& text : texts) json.string(text);
  json.end_array();
}

void throw_if_refused(const hub::PackageName& package, const hub::Located& located) {
  if (located.violations.empty()) return;
  throw Refused(fmt::format("{}@{}: refused:\n  {}", package.name, package.version,
                            join(located.violations, "\n  ")));
}

Device device_of(const HubVerbFlags& flags) {
  RunFlags run;
  run.device = flags.device;
  return choose_device(run);
}

hub::PackageName only_package(const HubVerbFlags& flags) {
  if (flags.packages.size() != 1) fail("hub", "one package is needed: epilogue/glu@1");
  return package_of(flags.packages[0]);
}

int hub_list(const HubVerbFlags& flags) {
  const hub::Options options = hub_options(flags.hub);
  const std::vector<ListedPackage> rows = list_all(options);
  if (flags.json) {
    JsonWriter json;
    json.begin_object().key("schema").integer(1).key("packages").begin_array();
    for (const ListedPackage& row : rows) {
      json.begin_object().key("name").string(row.name).key("version").integer(row.version);
      json.key("source").string(row.source).key("variants").begin_array();
      for (const std::string& variant : row.variants) json.string(variant);
      json.end_array().end_object();
    }
    json.end_array().end_object();
    print_out("{}\n", json.text());
    return kDone;
  }
  for (const ListedPackage& row : rows) {
    print_wrapped("", fmt::format("{}@{}, from {}", row.name, row.version, row.source));
    for (const std::string& variant : row.variants) print_out("  {}\n", variant);
  }
  if (rows.empty()) print_wrapped("", "no packages in: " + join(options.sources, ", "));
  return kDone;
}

int hub_info(const HubVerbFlags& flags) {
  if (flags.packages.size() == 1 && hub::is_hugging_face(flags.packages[0])) {
    return hugging_face_info(flags, flags.packages[0]);
  }
  const hub::PackageName package = only_package(flags);
  const hub::Options options = hub_options(flags.hub);
  const auto located = hub::locate(package, options);
  throw_if_failed(located);
  throw_if_refused(package, *located);
  std::vector<InfoVariant> variants;
  for (const std::string& variant : located->variants) {
    const hub::VariantName name{package.name, package.version, variant};
    auto checked = hub::read_manifest(*located->source, name, options.trust);
    throw_if_failed(checked);
    variants.push_back({variant, std::move(*checked)});
  }
  if (flags.json) {
    info_json(package, located->source->name(), variants);
  } else {
    print_info(located->source->name(), variants, options);
  }
  return kDone;
}

int hub_why(const HubVerbFlags& flags) {
  const Device device = device_of(flags);
  const auto resolution =
      hub::resolve(only_package(flags), hub::this_host(device), hub_options(flags.hub));
  throw_if_failed(resolution);
  flags.json ? why_json(*resolution, device) : print_why(*resolution, device);
  return resolution->chosen && resolution->chosen->is_trusted() ? kDone : kBroken;
}

}  // namespace epi::cli
