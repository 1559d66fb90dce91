// SPDX-License-Identifier: Apache-2.0
// `epilogue hub`: its verbs and their flags. What they do is in hub_show.cpp (list, info, why) and
// hub_make.cpp (verify, get, lock, build, sign, keygen).
#include "epilogue/cli/hub/hub_verbs.h"

#include <memory>

#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"

namespace epi::cli {
namespace {

struct HubVerb {
  const char* name;
  const char* help;
  int (*run)(const HubVerbFlags&);
};

using Flags = std::shared_ptr<HubVerbFlags>;

Command add(Command& hub, const HubVerb& verb, const Flags& flags) {
  Command app = hub.subcommand(verb.name, verb.help);
  app.flag("--json", flags->json, "One JSON object on standard output");
  app.run([flags, run = verb.run] { return run(*flags); });
  return app;
}

// A verb that looks packages up.
Command add_looking(Command& hub, const HubVerb& verb, const Flags& flags, const char* what) {
  Command app = add(hub, verb, flags);
  if (*what != '\0') app.option("PACKAGE", flags->packages, what);
  add_hub_options(app, flags->hub);
  return app;
}

void add_device(Command app, const Flags& flags) {
  app.option("--device", flags->device, "auto, cpu or cuda").value_name("NAME");
}

void add_looking_verbs(Command& hub) {
  const auto flags = [] { return std::make_shared<HubVerbFlags>(); };
  add_looking(hub, {"list", "What the sources hold\nExample: epilogue hub list", hub_list}, flags(),
              "");
  add_looking(hub,
              {"info", "What a package is and exports\nExample: epilogue hub info epilogue/glu@1",
               hub_info},
              flags(), "NAME@VERSION, or a folder of the Hugging Face hub");
  auto why = flags();
  add_device(add_looking(hub,
                         {"why",
                          "Every variant, and why it is taken or refused\n"
                          "Example: epilogue hub why epilogue/glu@1",
                          hub_why},
                         why, "NAME@VERSION"),
             why);
  add_looking(hub,
              {"verify",
               "Signatures, hashes and the lock, of every variant\n"
               "Example: epilogue hub verify epilogue/glu@1",
               hub_verify},
              flags(), "NAME@VERSION, or a folder of the Hugging Face hub; the lock's");
  auto get = flags();
  add_device(add_looking(hub,
                         {"get",
                          "Fetches the variant that fits this machine\n"
                          "Example: epilogue hub get epilogue/glu@1 --source https://...",
                          hub_get},
                         get, "NAME@VERSION"),
             get);
  add_looking(hub,
              {"lock",
               "Pins the bytes of packages in epilogue.lock\n"
               "Example: epilogue hub lock epilogue/glu@1",
               hub_lock},
              flags(), "NAME@VERSION ...");
}

void add_making_verbs(Command& hub) {
  auto build = std::make_shared<HubVerbFlags>();
  Command app = add(hub,
                    {"build",
                     "Makes a variant of a package from a recipe and compiled files\n"
                     "Example: epilogue hub build package.json --variant \\\n"
                     "  abi1-cpu-x86_64.avx2-linux --files out -o packages",
                     hub_build},
                    build);
  app.option("RECIPE", build->path, "A manifest without hashes: docs/hub.md").required();
  app.option("--variant", build->variant, "abi1-<backend>-<target>-<os>").required();
  app.option("--files", build->files, "Where the compiled files are (the recipe's folder)")
      .value_name("DIR");
  app.option("-o,--out", build->out, "The folder of packages to write to")
      .value_name("DIR")
      .required();
  app.option("--commit", build->commit, "Of the source").value_name("TEXT");
  app.flag("--dirty", build->dirty, "The source has changes beside the commit");

  auto sign = std::make_shared<HubVerbFlags>();
  app = add(hub,
            {"sign",
             "Signs every manifest under a folder\n"
             "Example: epilogue hub sign packages --key mine.key",
             hub_sign},
            sign);
  app.option("FOLDER", sign->path, "A folder of packages, a package or a variant").required();
  app.option("--key", sign->key, "A private key of `hub keygen`").value_name("FILE").required();

  auto keygen = std::make_shared<HubVerbFlags>();
  app = add(hub,
            {"keygen",
             "Makes a key to sign with\n"
             "Example: epilogue hub keygen mine.key --keyring keyring --name mine",
             hub_keygen},
            keygen);
  app.option("FILE", keygen->path, "The private key to write; never over another").required();
  app.option("--name", keygen->name, "Whose it is, for keyrings").value_name("TEXT");
  app.option("--keyring", keygen->keyring, "Add the public key to it").value_name("FILE");
}

}  // namespace

void add_hub(Command& hub) {
  hub.footer(
      "Sources: --source, else EPILOGUE_HUB, else the packages built with this tool.\n"
      "Keyrings: --keyring, else EPILOGUE_KEYRING, else the build's and\n"
      "~/.config/epilogue/keyring. Trust: --trust, else EPILOGUE_TRUST, else require.");
  add_looking_verbs(hub);
  add_making_verbs(hub);
  // Verbs are short: their descriptions fit beside them into 80 columns.
  hub.subcommand_column(10);
}

}  // namespace epi::cli
