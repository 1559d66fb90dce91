// SPDX-License-Identifier: Apache-2.0
// `epilogue hub`: its verbs and their flags. What they do is in hub_show.cpp (list, info, why) and
// hub_make.cpp (verify, get, lock, build, sign, keygen).
#include "epilogue/cli/hub.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "epilogue/cli/verbs.h"

namespace epi::cli {
namespace {

struct Verb {
  const char* name;
  const char* help;
  int (*run)(const HubVerbFlags&);
};

using Flags = std::shared_ptr<HubVerbFlags>;

CLI::App* add(CLI::App& hub, Action& action, const Verb& verb, const Flags& flags) {
  CLI::App* app = hub.add_subcommand(verb.name, verb.help);
  app->add_flag("--json", flags->json, "One JSON object on standard output");
  app->callback([flags, &action, run = verb.run] { action = [=] { return run(*flags); }; });
  return app;
}

// A verb that looks packages up.
CLI::App* add_looking(CLI::App& hub, Action& action, const Verb& verb, const Flags& flags,
                      const char* what) {
  CLI::App* app = add(hub, action, verb, flags);
  if (*what != '\0') app->add_option("PACKAGE", flags->packages, what);
  add_hub_options(*app, flags->hub);
  return app;
}

void add_device(CLI::App* app, const Flags& flags) {
  app->add_option("--device", flags->device, "auto, cpu or cuda")->type_name("NAME");
}

void add_looking_verbs(CLI::App& hub, Action& action) {
  const auto flags = [] { return std::make_shared<HubVerbFlags>(); };
  add_looking(hub, action, {"list", "What the sources hold\nExample: epilogue hub list", hub_list},
              flags(), "");
  add_looking(hub, action,
              {"info", "What a package is and exports\nExample: epilogue hub info epilogue/glu@1",
               hub_info},
              flags(), "NAME@VERSION, or a folder of the Hugging Face hub");
  auto why = flags();
  add_device(add_looking(hub, action,
                         {"why",
                          "Every variant, and why it is taken or refused\n"
                          "Example: epilogue hub why epilogue/glu@1",
                          hub_why},
                         why, "NAME@VERSION"),
             why);
  add_looking(hub, action,
              {"verify",
               "Signatures, hashes and the lock, of every variant\n"
               "Example: epilogue hub verify epilogue/glu@1",
               hub_verify},
              flags(), "NAME@VERSION, or a folder of the Hugging Face hub; the lock's");
  auto get = flags();
  add_device(add_looking(hub, action,
                         {"get",
                          "Fetches the variant that fits this machine\n"
                          "Example: epilogue hub get epilogue/glu@1 --source https://...",
                          hub_get},
                         get, "NAME@VERSION"),
             get);
  add_looking(hub, action,
              {"lock",
               "Pins the bytes of packages in epilogue.lock\n"
               "Example: epilogue hub lock epilogue/glu@1",
               hub_lock},
              flags(), "NAME@VERSION ...");
}

void add_making_verbs(CLI::App& hub, Action& action) {
  auto build = std::make_shared<HubVerbFlags>();
  CLI::App* app = add(hub, action,
                      {"build",
                       "Makes a variant of a package from a recipe and compiled files\n"
                       "Example: epilogue hub build package.json --variant \\\n"
                       "  abi1-cpu-x86_64.avx2-linux --files out -o packages",
                       hub_build},
                      build);
  app->add_option("RECIPE", build->path, "A manifest without hashes: docs/hub.md")->required();
  app->add_option("--variant", build->variant, "abi1-<backend>-<target>-<os>")->required();
  app->add_option("--files", build->files, "Where the compiled files are (the recipe's folder)")
      ->type_name("DIR");
  app->add_option("-o,--out", build->out, "The folder of packages to write to")
      ->type_name("DIR")
      ->required();
  app->add_option("--commit", build->commit, "Of the source")->type_name("TEXT");
  app->add_flag("--dirty", build->dirty, "The source has changes beside the commit");

  auto sign = std::make_shared<HubVerbFlags>();
  app = add(hub, action,
            {"sign",
             "Signs every manifest under a folder\n"
             "Example: epilogue hub sign packages --key mine.key",
             hub_sign},
            sign);
  app->add_option("FOLDER", sign->path, "A folder of packages, a package or a variant")->required();
  app->add_option("--key", sign->key, "A private key of `hub keygen`")
      ->type_name("FILE")
      ->required();

  auto keygen = std::make_shared<HubVerbFlags>();
  app = add(hub, action,
            {"keygen",
             "Makes a key to sign with\n"
             "Example: epilogue hub keygen mine.key --keyring keyring --name mine",
             hub_keygen},
            keygen);
  app->add_option("FILE", keygen->path, "The private key to write; never over another")->required();
  app->add_option("--name", keygen->name, "Whose it is, for keyrings")->type_name("TEXT");
  app->add_option("--keyring", keygen->keyring, "Add the public key to it")->type_name("FILE");
}

}  // namespace

void add_hub(CLI::App& app, Action& action) {
  CLI::App* hub = app.add_subcommand("hub", "Kernel packages: prebuilt, versioned, verified");
  hub->require_subcommand(1);
  hub->footer(
      "Sources: --source, else EPILOGUE_HUB, else the packages built with this tool.\n"
      "Keyrings: --keyring, else EPILOGUE_KEYRING, else the build's and\n"
      "~/.config/epilogue/keyring. Trust: --trust, else EPILOGUE_TRUST, else require.");
  add_looking_verbs(*hub, action);
  add_making_verbs(*hub, action);
  // Verbs are short: their descriptions fit beside them into 80 columns.
  const auto formatter = std::make_shared<CLI::Formatter>();
  formatter->column_width(10);
  hub->formatter(formatter);
}

}  // namespace epi::cli
