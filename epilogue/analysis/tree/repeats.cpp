// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/tree/repeats.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace epi::analysis {
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
    compute_hashes();
  }

  Repeat best_at(size_t start) const {
    Repeat best{start, 1, 1};
    if (start >= sequence_.size()) return best;
    size_t tried = 0;
    // A period is the distance to a later equal element.
    for (size_t again = next_[start]; again < sequence_.size() && tried < kMaxPeriods;
         again = next_[again], ++tried) {
      const size_t period = again - start;
      const size_t same = common_length(start, again);
      const Repeat found{start, period, 1 + same / period};
      if (saved(found) > saved(best)) best = found;
      // Repeats to the end of the sequence, so a longer period cannot save more.
      if (again + same == sequence_.size() && same >= period) break;
    }
    return best;
  }

 private:
  // The number of equal elements from `a` and from `b > a` on. The first ones are compared, the
  // others found by bisection over hashes: comparing all of them takes quadratic time in sequences
  // that almost repeat.
  size_t common_length(size_t a, size_t b) const {
    constexpr size_t kCompared = 32;
    const size_t limit = sequence_.size() - b;
    size_t same = 0;
    while (same < std::min(limit, kCompared) && sequence_[a + same] == sequence_[b + same]) ++same;
    if (same < kCompared) return same;
    size_t different = limit + 1;  // the lowest length that is known to differ
    while (same + 1 < different) {
      const size_t middle = same + (different - same) / 2;
      (hash_of(a, middle) == hash_of(b, middle) ? same : different) = middle;
    }
    return same;
  }

  // Polynomial hashes modulo the prime 2^61 - 1.
  static uint64_t times(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    const uint64_t sum =
        static_cast<uint64_t>(product & kPrime) + static_cast<uint64_t>(product >> 61);
    return sum >= kPrime ? sum - kPrime : sum;
  }
  uint64_t hash_of(size_t start, size_t length) const {
    const uint64_t before = times(hashes_[start], powers_[length]);
    return (hashes_[start + length] + kPrime - before) % kPrime;
  }
  void compute_hashes() {
    constexpr uint64_t kBase = 0x0b9f2a71d3c45e87;
    hashes_ = {0};
    powers_ = {1};
    for (const uint64_t element : sequence_) {
      hashes_.push_back((times(hashes_.back(), kBase) + element % kPrime) % kPrime);
      powers_.push_back(times(powers_.back(), kBase));
    }
  }

  static constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
  const std::vector<uint64_t>& sequence_;
  std::vector<uint64_t> hashes_;  // of the elements before each position
  std::vector<uint64_t> powers_;
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

}  // namespace epi::analysis
