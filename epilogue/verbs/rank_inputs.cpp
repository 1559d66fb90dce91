// SPDX-License-Identifier: Apache-2.0
#include "epilogue/verbs/rank_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "epilogue/base/error.h"
#include "epilogue/base/parse_integer.h"
#include "epilogue/verbs/print_results.h"

namespace epi::verbs {
namespace {

// The number after "rank" or "worker" in the name of a file.
std::optional<int64_t> rank_in_name(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  for (const std::string_view word : {"rank", "worker"}) {
    size_t begin = name.find(word);
    if (begin == std::string::npos) continue;
    begin += word.size();
    if (begin < name.size() && (name[begin] == '_' || name[begin] == '-')) ++begin;
    const size_t end = std::min(name.find_first_not_of("0123456789", begin), name.size());
    const auto rank = parse_integer(std::string_view(name).substr(begin, end - begin));
    if (rank) return rank;
  }
  return std::nullopt;
}

// PyTorch names files HOST_PROCESS.TIME.pt.trace.json by default. Empty for other names.
std::string host_in_name(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  const size_t end = name.find(".pt.trace.json");
  if (end == std::string::npos) return "";
  // The process and the time, from the end: digits, a dot, digits, an underscore.
  const auto before_digits = [&](size_t from) {
    size_t at = from;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
    return at == from ? std::string::npos : at;
  };
  const size_t time = before_digits(end);
  if (time == std::string::npos || time < 2 || name[time - 1] != '.') return "";
  const size_t process = before_digits(time - 1);
  if (process == std::string::npos || process < 2 || name[process - 1] != '_') return "";
  return name.substr(0, process - 1);
}

// The name of a job in a header: its folder, or its first file.
std::string job_name(const std::vector<TraceSource>& sources) {
  const auto folder = std::filesystem::path(sources[0].title()).lexically_normal();
  const std::string name = (folder.has_filename() ? folder : folder.parent_path()).string();
  return sources.size() == 1 ? name : fmt::format("{} and {} more", name, sources.size() - 1);
}

}  // namespace

analysis::RankData rank_of(const TraceInput& input) {
  analysis::RankData rank = analysis::rank_data(input.models());
  rank.file = input.file;
  rank.host = host_in_name(input.file);
  const auto named = input.has_rank ? std::nullopt : rank_in_name(input.file);
  rank.rank = named.value_or(input.rank);
  rank.has_rank = input.has_rank || named.has_value();
  return rank;
}

RankInputs read_ranks(Call& call, const std::vector<TraceSource>& sources) {
  RankInputs result;
  call.read_each(
      sources,
      [&](const TraceInput& input) {
        result.ranks.push_back(rank_of(input));
        show_notices(call, {input}, false);
      },
      [&](const std::string& file, const std::string& message) {
        result.unreadable.push_back({file, message});
      });
  if (result.ranks.empty()) throw Error(result.unreadable.at(0).message);
  return result;
}

void remove_repeated(RankInputs& inputs) {
  std::map<int64_t, std::string> files;
  std::vector<analysis::RankData> kept;
  for (analysis::RankData& rank : inputs.ranks) {
    if (rank.has_rank) {
      const auto [known, is_new] = files.try_emplace(rank.rank, rank.file);
      if (!is_new) {
        inputs.repeated.push_back({rank.file, fmt::format("{}: rank {} is in {}, too", rank.file,
                                                          rank.rank, known->second)});
        continue;
      }
    }
    kept.push_back(std::move(rank));
  }
  inputs.ranks = std::move(kept);
}

void note_skipped(Call& call, const RankInputs& inputs) {
  for (const auto* list : {&inputs.unreadable, &inputs.repeated}) {
    for (const auto& one : *list) call.note("{}: note: skipped", one.message);
  }
}

bool is_one_job(const RankInputs& inputs) {
  std::map<int64_t, int> ranks;
  int64_t world_size = 0;
  for (const analysis::RankData& rank : inputs.ranks) {
    if (rank.has_rank && ++ranks[rank.rank] > 1) return false;
    if (rank.world_size == 0) continue;
    if (world_size > 0 && rank.world_size != world_size) return false;
    world_size = rank.world_size;
  }
  return true;
}

report::RanksResult job_result(RankInputs&& inputs, const std::vector<TraceSource>& sources) {
  return {analysis::analyze_ranks(std::move(inputs.ranks)), job_name(sources),
          std::move(inputs.unreadable)};
}

}  // namespace epi::verbs
