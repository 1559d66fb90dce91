// SPDX-License-Identifier: Apache-2.0
// `epilogue cache`: shows the size of the compiler's code cache on disk. `--clear` empties it.
#include <memory>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/base/private_folder.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/output.h"
#include "epilogue/compiler/plan/code_cache.h"
#include "epilogue/report/text/units.h"

namespace epi::cli {
namespace {

struct CacheFlags {
  bool clear = false;
  bool json = false;
};

void print_json(const compiler::CacheContents& contents, bool cleared) {
  const auto folder = compiler::cache_folder();
  JsonWriter json;
  json.begin_object().key("schema").integer(1);
  json.key("folder");
  folder ? json.string(folder->string()) : json.null();
  json.key("entries").integer(contents.entries);
  json.key("bytes").integer(contents.bytes);
  json.key("limit_bytes").integer(compiler::kCacheBytes);
  json.key("cleared").boolean(cleared);
  json.end_object();
  print_out("{}\n", json.text());
}

int run(const CacheFlags& flags) {
  compiler::CacheContents contents = compiler::cache_contents();
  if (flags.clear) {
    const auto removed = compiler::clear_cache();
    throw_if_failed(removed);
    contents = *removed;
  }
  if (flags.json) {
    print_json(contents, flags.clear);
    return kDone;
  }
  const auto folder = compiler::cache_folder();
  if (!folder) {
    print_out("no cache: EPILOGUE_CACHE is empty, or there is no home folder\n");
    return kDone;
  }
  if (const auto trusted = PrivateFolder::open(*folder); !trusted) {
    print_error("{}: the cache is not used\n", trusted.error().message);
  }
  const std::string limit = report::bytes_text(static_cast<double>(compiler::kCacheBytes));
  print_out("{}\n{}{}, {}{}\n", folder->string(), flags.clear ? "removed " : "",
            report::plural(static_cast<double>(contents.entries), "compiled graph"),
            report::bytes_text(static_cast<double>(contents.bytes)),
            flags.clear ? "" : " of at most " + limit);
  return kDone;
}

}  // namespace

void add_cache(Command& verb) {
  auto flags = std::make_shared<CacheFlags>();
  verb.add("--clear", flags->clear, "Remove every entry");
  verb.add("--json", flags->json, "One JSON object on standard output");
  verb.footer(
      "The folder is EPILOGUE_CACHE, else XDG_CACHE_HOME/epilogue,\n"
      "else ~/.cache/epilogue. An empty EPILOGUE_CACHE disables the cache.");
  verb.run([flags] { return run(*flags); });
}

}  // namespace epi::cli
