// SPDX-License-Identifier: Apache-2.0
// The verbs of `epilogue hub` and their flags. The implementations are in hub_show.cpp (list, info,
// why), hub_check.cpp (verify, get, lock) and hub_make.cpp (build, sign, index, keygen, revoke).
#include "epilogue/cli/hub/hub_verbs.h"

#include <memory>

#include "epilogue/base/exit_codes.h"
#include "epilogue/cli/command.h"

namespace epi::cli {
namespace {

struct HubVerb {
  const char* name;
  const char* help;
  int (*run)(const HubVerbFlags&);
};

using Flags = std::shared_ptr<HubVerbFlags>;

Command& add(Command& hub, const HubVerb& verb, const Flags& flags) {
  Command& app = hub.subcommand(verb.name, verb.help);
  app.add("--json", flags->json, "One JSON object on standard output");
  app.run([flags, run = verb.run] { return run(*flags); });
  return app;
}

// Adds a verb that looks up packages.
Command& add_lookup_verb(Command& hub, const HubVerb& verb, const Flags& flags, const char* what) {
  Command& app = add(hub, verb, flags);
  if (*what != '\0') app.add("PACKAGE", flags->packages, what);
  add_hub_options(app, flags->hub);
  return app;
}

void add_device(Command& app, const Flags& flags) {
  app.add("--device", flags->device, "Where it runs (auto)").value_name("auto|cpu|cuda");
}

void add_lookup_verbs(Command& hub) {
  const auto flags = [] { return std::make_shared<HubVerbFlags>(); };
  add_lookup_verb(
      hub, {"list", "Lists the packages of all sources\nExample: epilogue hub list", hub_list},
      flags(), "");
  add_lookup_verb(
      hub,
      {"info", "Shows exports, layers and variants\nExample: epilogue hub info epilogue/glu@1",
       hub_info},
      flags(), "NAME@VERSION, or a Hugging Face folder");
  auto why = flags();
  add_device(add_lookup_verb(hub,
                             {"why",
                              "Explains which variant is chosen, and why\n"
                              "Example: epilogue hub why epilogue/glu@1",
                              hub_why},
                             why, "NAME@VERSION"),
             why);
  add_lookup_verb(hub,
                  {"verify",
                   "Checks signature, hashes and lock of every variant\n"
                   "Example: epilogue hub verify epilogue/glu@1",
                   hub_verify},
                  flags(), "NAME@VERSION or Hugging Face folder (all locked)");
  auto get = flags();
  add_device(add_lookup_verb(hub,
                             {"get",
                              "Fetches the variant that fits this machine\n"
                              "Example: epilogue hub get epilogue/glu@1 --source https://...",
                              hub_get},
                             get, "NAME@VERSION"),
             get);
  add_lookup_verb(hub,
                  {"lock",
                   "Pins packages by hash in epilogue.lock\n"
                   "Example: epilogue hub lock epilogue/glu@1",
                   hub_lock},
                  flags(), "NAME@VERSION ...");
}

void add_publish_verbs(Command& hub) {
  auto build = std::make_shared<HubVerbFlags>();
  Command& build_verb = add(hub,
                            {"build",
                             "Builds a package variant from a recipe and compiled files\n"
                             "Example: epilogue hub build package.json --variant \\\n"
                             "  abi1-cpu-x86_64.avx2-linux --files out -o packages",
                             hub_build},
                            build);
  build_verb.add("RECIPE", build->path, "Manifest without hashes, see docs/hub.md").required();
  build_verb.add("--variant", build->variant, "abi1-<backend>-<target>-<os>").required();
  build_verb.add("--files", build->files, "Folder of the compiled files (the recipe's)")
      .value_name("DIR");
  build_verb.add("-o,--out", build->out, "Package folder to write to").value_name("DIR").required();
  build_verb.add("--commit", build->commit, "Source commit to record").value_name("TEXT");
  build_verb.add("--dirty", build->dirty, "The source has uncommitted changes");
  build_verb.add("--expires", build->expires, "Refused from then on: 2027-01-31T00:00:00Z")
      .value_name("TIME");

  auto sign = std::make_shared<HubVerbFlags>();
  Command& sign_verb = add(hub,
                           {"sign",
                            "Signs every manifest under a folder, and its index\n"
                            "Example: epilogue hub sign packages --key mine.key",
                            hub_sign},
                           sign);
  sign_verb.add("FOLDER", sign->path, "A folder of packages, a package or a variant").required();
  sign_verb.add("--key", sign->key, "Private key from `hub keygen`").value_name("FILE").required();

  auto index = std::make_shared<HubVerbFlags>();
  Command& index_verb = add(hub,
                            {"index",
                             "Lists all packages of a folder in a signed packages.json\n"
                             "Example: epilogue hub index packages --key mine.key",
                             hub_index},
                            index);
  index_verb.add("FOLDER", index->path, "The root folder of the packages").required();
  index_verb.add("--key", index->key, "Private key from `hub keygen`")
      .value_name("FILE")
      .required();
  index_verb.add("--expires", index->expires, "Refused from then on: 2027-01-31T00:00:00Z")
      .value_name("TIME");

  auto keygen = std::make_shared<HubVerbFlags>();
  Command& keygen_verb = add(hub,
                             {"keygen",
                              "Generates a signing key\n"
                              "Example: epilogue hub keygen mine.key --keyring keyring --name mine",
                              hub_keygen},
                             keygen);
  keygen_verb.add("FILE", keygen->path, "Private key to write; must not exist yet").required();
  keygen_verb.add("--name", keygen->name, "Name of the key in keyrings").value_name("TEXT");
  keygen_verb.add("--keyring", keygen->keyring, "Keyring to add the public key to")
      .value_name("FILE");

  auto revoke = std::make_shared<HubVerbFlags>();
  Command& revoke_verb = add(hub,
                             {"revoke",
                              "Makes the statement that a key is no longer valid\n"
                              "Example: epilogue hub revoke mine.key --list packages/revoked.txt",
                              hub_revoke},
                             revoke);
  revoke_verb.add("KEY", revoke->path, "Private key that is revoked").required();
  revoke_verb.add("--list", revoke->list, "Append the statement to this file (default: print it)")
      .value_name("FILE");
}

}  // namespace

void add_hub(Command& hub) {
  hub.footer(
      "Sources: --source, else EPILOGUE_HUB, else the packages built with this tool.\n"
      "Keyrings: --keyring, else EPILOGUE_KEYRING, else the build's and\n"
      "~/.config/epilogue/keyring. Trust: --trust, else EPILOGUE_TRUST, else require.");
  add_lookup_verbs(hub);
  add_publish_verbs(hub);
  // A narrow column for the short verb names leaves room for descriptions within 80 columns.
}

}  // namespace epi::cli
