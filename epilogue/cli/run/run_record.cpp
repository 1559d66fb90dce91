// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/run/run_record.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/base/folder_names.h"
#include "epilogue/base/output_file.h"
#include "epilogue/report/tables/profiler_table_report.h"
#include "epilogue/trace/writer.h"
#include "epilogue/verbs/output_rules.h"

namespace epi::cli {
namespace {

// Splits "out/mlp.json.gz" into "out/mlp" and ".json.gz".
std::pair<std::string, std::string> split_ending(const std::string& path) {
  for (const std::string_view ending : {".json", ".json.gz", ".json.zst", ".gz", ".zst"}) {
    const size_t stem = path.size() - std::min(path.size(), ending.size());
    if (path.ends_with(ending) && stem > 0 && path[stem - 1] != '/') {
      return {path.substr(0, stem), path.substr(stem)};
    }
  }
  return {path, ""};
}

// A device or a pipe receives only the trace, because the table needs a file name.
bool is_special(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_other(std::filesystem::status(path, ignored));
}

struct RecordPaths {
  std::string trace;
  std::string table;
};
RecordPaths record_paths(const RunFlags& flags, const RunSizes& sizes) {
  const auto [stem, ending] = split_ending(flags.trace);
  const std::string label = list_label(flags, sizes);
  const std::string base = label.empty() ? stem : stem + "_" + label;
  return {base + ending, base + ".txt"};
}

// --weights is a file, or a folder of files.
std::vector<std::string> weight_files(const std::string& weights) {
  std::vector<std::string> files = {weights};
  std::error_code failed;
  for (const std::string& name : folder_names(weights, failed)) {
    files.push_back((std::filesystem::path(weights) / name).string());
  }
  return files;
}

}  // namespace

void check_record(const RunFlags& flags, const RunSizes& sizes) {
  if (flags.trace.empty() || is_special(flags.trace)) return;
  const RecordPaths paths = record_paths(flags, sizes);
  for (const std::string& path : {paths.trace, paths.table}) {
    verbs::refuse_input_as_output("run", "--trace", path, weight_files(flags.weights));
  }
  if (paths.trace != flags.trace) {
    verbs::refuse_foreign_file("run", paths.trace, verbs::Content::kTrace, flags.force);
  }
  verbs::refuse_foreign_file("run", paths.table, verbs::Content::kTable, flags.force);
}

void check_trace_folder(const RunFlags& flags) {
  if (flags.trace.empty() || is_special(flags.trace)) return;
  const auto parent = std::filesystem::path(flags.trace).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  std::error_code ignored;
  if (std::filesystem::is_directory(flags.trace, ignored)) {
    fail("run", "--trace {}: is a folder", flags.trace);
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    fail("run", "--trace {}: cannot write to the folder {}: {}", flags.trace, folder,
         std::strerror(errno));
  }
}

void write_record(const RunFlags& flags, const RunSizes& sizes, const trace::Trace& trace,
                  const analysis::ProfilerTable& table, RunResult& result) {
  if (is_special(flags.trace)) {
    throw_if_failed(trace::write(trace, flags.trace));
    result.trace_path = flags.trace;
    return;
  }
  const RecordPaths paths = record_paths(flags, sizes);
  // The table is written to a temporary file first and renamed last, so that a failed write leaves
  // neither file.
  auto table_file = OutputFile::create(paths.table);
  throw_if_failed(table_file);
  throw_if_failed(table_file->write(report::table_text(table, {})));
  throw_if_failed(trace::write(trace, paths.trace));
  throw_if_failed(table_file->commit());
  result.trace_path = paths.trace;
  result.table_path = paths.table;
}

}  // namespace epi::cli
