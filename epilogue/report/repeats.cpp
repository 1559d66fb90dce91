// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/repeats.h"

#include <unordered_map>
#include <utility>

namespace epi::report {
namespace {

// A layer may contain its first operator many times. This bounds the search in long sequences.
constexpr size_t kMaxPeriods = 512;

size_t saved(const Repeat& repeat) { return (repeat.times - 1) * repeat.period; }

class Search {
 public:
  explicit Search(const std::vector<uint64_t>& sequence)
      : sequence_(sequence), next_(sequence.size(), sequence.size()) {
    std::unordered_map<uint64_t, size_t> last;
    for (size_t i = sequence.size(); i-- > 0;) {
      const auto [known, is_new] = last.try_emplace(sequence[i], i);
      if (!is_new) next_[i] = std::exchange(known->second, i);
    }
  }

  Repeat best_at(size_t start) const {
    Repeat best{start, 1, 1};
    if (start >= sequence_.size()) return best;
    size_t tried = 0;
    // A period is the distance to a later equal element.
    for (size_t again = next_[start]; again < sequence_.size() && tried < kMaxPeriods;
         again = next_[again], ++tried) {
      const size_t period = again - start;
      size_t same = 0;
      while (again + same < sequence_.size() &&
             sequence_[start + same] == sequence_[again + same]) {
        ++same;
      }
      const Repeat found{start, period, 1 + same / period};
      if (saved(found) > saved(best)) best = found;
      // Repeats to the end of the sequence, so a longer period cannot save more.
      if (again + same == sequence_.size() && same >= period) break;
    }
    return best;
  }

 private:
  const std::vector<uint64_t>& sequence_;
  std::vector<size_t> next_;  // index of the next equal element, or the size of the sequence
};

}  // namespace

std::vector<Repeat> find_repeats(const std::vector<uint64_t>& sequence) {
  const Search search(sequence);
  std::vector<Repeat> found;
  for (size_t at = 0; at < sequence.size();) {
    Repeat here = search.best_at(at);
    if (here.times > 1 && saved(search.best_at(at + 1)) > saved(here)) here = {at, 1, 1};
    found.push_back(here);
    at += here.period * here.times;
  }
  return found;
}

}  // namespace epi::report
