// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/run_record.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "epilogue/base/error.h"
#include "epilogue/base/output_file.h"
#include "epilogue/report/profiler_table.h"
#include "epilogue/trace/writer.h"

namespace epi::cli {
namespace {

// "out/mlp" and ".json.gz" of "out/mlp.json.gz".
std::pair<std::string, std::string> split_ending(const std::string& path) {
  for (const std::string_view ending : {".json", ".json.gz", ".json.zst", ".gz", ".zst"}) {
    const size_t stem = path.size() - std::min(path.size(), ending.size());
    if (path.ends_with(ending) && stem > 0 && path[stem - 1] != '/') {
      return {path.substr(0, stem), path.substr(stem)};
    }
  }
  return {path, ""};
}

void check(const Result<void>& done) {
  if (!done) throw Error(done.error().message);
}

Result<void> write_text(const std::string& path, const std::string& text) {
  auto file = OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  if (auto done = file->write(text); !done) return done;
  return file->commit();
}

}  // namespace

void check_trace_folder(const RunFlags& flags) {
  if (flags.trace.empty()) return;
  const auto parent = std::filesystem::path(flags.trace).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (std::filesystem::is_directory(flags.trace))
    fail("run", "--trace {}: is a folder", flags.trace);
  if (::access(folder.c_str(), W_OK) != 0) {
    fail("run", "--trace {}: cannot write to the folder {}: {}", flags.trace, folder,
         std::strerror(errno));
  }
}

void write_record(const RunFlags& flags, const RunSizes& sizes, const trace::Trace& trace,
                  const analysis::ProfilerTable& table, RunResult& result) {
  const auto [stem, ending] = split_ending(flags.trace);
  const std::string label = list_label(flags, sizes);
  const std::string named = label.empty() ? stem : stem + "_" + label;
  result.trace_path = named + ending;
  result.table_path = named + ".txt";
  check(trace::write(trace, result.trace_path));
  check(write_text(result.table_path, report::table_text(table, {})));
}

}  // namespace epi::cli
