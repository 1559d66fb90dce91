// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/ranks/ranks_words.h"

#include <iterator>

namespace epi::report {

std::span<const BetweenWords> Words<analysis::Between>::rows() {
  static constexpr BetweenWords kRows[] = {
      {"compute", "compute"},           {"copies", "copying"},
      {"data_loading", "data loading"}, {"synchronization", "synchronization"},
      {"host", "waiting for the host"}, {"not_in_trace", "waiting for something not in the trace"},
  };
  static_assert(std::size(kRows) == analysis::kBetweens);
  return kRows;
}

std::span<const NoStragglerWords> Words<analysis::NoStraggler>::rows() {
  static constexpr NoStragglerWords kRows[] = {
      {"named"},          {"no_collectives"},        {"ranks_missing"},
      {"unknown_groups"}, {"different_collectives"}, {"chance"}};
  static_assert(std::size(kRows) == static_cast<size_t>(analysis::NoStraggler::kChance) + 1);
  return kRows;
}

std::span<const RemedyWords> Words<analysis::CommunicationRemedy>::rows() {
  static constexpr RemedyWords kRows[] = {
      {"arrive_together"}, {"overlap"}, {"bucket"}, {"bandwidth"}};
  static_assert(std::size(kRows) ==
                static_cast<size_t>(analysis::CommunicationRemedy::kBandwidth) + 1);
  return kRows;
}

}  // namespace epi::report
