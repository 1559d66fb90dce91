// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/trace/rank_inputs.h"

#include <filesystem>

#include "epilogue/base/error.h"
#include "epilogue/cli/trace/trace_inputs.h"

namespace epi::cli {

analysis::RankData rank_of(const TraceInput& input) {
  analysis::RankData rank = analysis::rank_data(input.index());
  rank.file = input.file;
  rank.rank = input.rank;
  rank.has_rank = input.has_rank;
  return rank;
}

RankInputs read_ranks(Session& session, const std::vector<std::string>& words,
                      const ReadingFlags& flags) {
  RankInputs result;
  session.read_each(
      words, flags,
      [&](const TraceInput& input) {
        result.ranks.push_back(rank_of(input));
        show_notices(session, {input}, false);
      },
      [&](const std::string& file, const std::string& message) {
        result.unreadable.push_back({file, message});
      });
  if (result.ranks.empty()) throw Error(result.unreadable.at(0).message);
  for (const auto& one : result.unreadable) session.note("{}: note: skipped", one.message);
  return result;
}

std::string job_name(const Session& session, const std::vector<std::string>& words) {
  const auto folder = std::filesystem::path(session.title(words[0])).lexically_normal();
  return (folder.has_filename() ? folder : folder.parent_path()).string();
}

}  // namespace epi::cli
