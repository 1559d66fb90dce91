// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/expect/rule_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "epilogue/analysis/expect/rule_words.h"
#include "epilogue/base/result.h"

namespace epi::analysis {
namespace {

using namespace rule_words;

constexpr size_t kMaxRuleLength = 4096;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}
  Result<Rule> parse();

 private:
  // A failure at byte `at` of the text. The message gives a 1-based column.
  template <typename... Ts>
  tl::unexpected<Failure> error_at(size_t at, fmt::format_string<Ts...> format,
                                   Ts&&... values) const {
    // Columns count characters, so UTF-8 continuation bytes are skipped.
    const auto column =
        std::count_if(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(at),
                      [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    return failure("column {}: {}", column + 1, fmt::format(format, std::forward<Ts>(values)...));
  }
  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  // The next word of letters, digits and underscores, without consuming it.
  std::string_view peek_word() const;
  std::string_view rest() const { return text_.substr(at_); }

  Result<size_t> find_claim() const;
  bool starts_claim(size_t at) const;
  Result<size_t> end_of_regex(size_t begin) const;
  Result<void> parse_subject(size_t colon);
  Result<void> parse_claim();
  Result<void> parse_measure();
  Result<void> parse_count();
  Result<void> parse_has(bool has);
  Result<void> parse_same();
  Result<void> parse_cmp_and_value();
  Result<void> parse_value();
  Result<Pattern> thing_until(size_t end);

  std::string_view text_;
  size_t at_ = 0;
  Rule rule_;
};

std::string_view Parser::peek_word() const {
  size_t end = at_;
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  while (end < text_.size() && is_word(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

bool Parser::starts_claim(size_t at) const {
  while (at < text_.size() && is_space(text_[at])) ++at;
  Parser ahead(text_);
  ahead.at_ = at;
  const std::string_view word = ahead.peek_word();
  return find(kQuantifiers, word) != nullptr || find(kMeasures, word) != nullptr || word == "has" ||
         word == "no" || word == "same";
}

// The colon between subject and claim. Names may contain colons (aten::t, "Region: 0/0"), so it is
// the first single colon followed by the start of a claim, or else the last single colon.
Result<size_t> Parser::find_claim() const {
  std::optional<size_t> last;
  size_t from = text_.find_first_not_of(" \t");
  if (text_[from] == '/') {
    const auto end = end_of_regex(from);
    EPI_TRY(end);
    from = *end;
  }
  for (size_t i = from; i < text_.size(); ++i) {
    if (text_[i] != ':') continue;
    const bool doubled =
        (i + 1 < text_.size() && text_[i + 1] == ':') || (i > 0 && text_[i - 1] == ':');
    if (doubled) continue;
    if (starts_claim(i + 1)) return i;
    last = i;
  }
  if (last) return *last;
  return error_at(text_.size(), "a colon and a claim are missing, as in \"mlp_fwd: kernels == 5\"");
}

// The position after the closing slash of a regular expression.
Result<size_t> Parser::end_of_regex(size_t begin) const {
  for (size_t i = begin + 1; i < text_.size(); ++i) {
    if (text_[i] == '\\') {
      ++i;
    } else if (text_[i] == '/') {
      return i + 1;
    }
  }
  return error_at(begin, "the regular expression has no closing /");
}

Result<Pattern> Parser::thing_until(size_t end) {
  const size_t begin = at_;
  while (end > begin && is_space(text_[end - 1])) --end;
  const std::string_view thing = text_.substr(begin, end - begin);
  if (thing.empty()) return error_at(begin, "a name or a /regex/ is missing");
  at_ = end;
  if (!thing.starts_with('/')) return Pattern::name(thing);
  const auto regex_end = end_of_regex(begin);
  EPI_TRY(regex_end);
  if (*regex_end != end)
    return error_at(*regex_end, "unexpected text after the regular expression");
  auto pattern = Pattern::regex(thing.substr(1, thing.size() - 2));
  if (!pattern) return error_at(begin, "{}", pattern.error().message);
  return pattern;
}

Result<void> Parser::parse_subject(size_t colon) {
  skip_spaces();
  // A rule holds for each trace anyway.
  constexpr std::string_view kEachRank = "each rank:";
  if (rest().starts_with(kEachRank)) {
    at_ += kEachRank.size();
    skip_spaces();
    if (at_ > colon) {
      return error_at(at_, "a subject is missing, as in \"each rank: step: kernels == 5\"");
    }
  }
  auto pattern = thing_until(colon);
  EPI_TRY(pattern);
  rule_.subject = SubjectKind::kNamed;
  if (!pattern->is_regex() && pattern->text() == "ranks") rule_.subject = SubjectKind::kRanks;
  if (!pattern->is_regex() && pattern->text() == "step") rule_.subject = SubjectKind::kStep;
  if (!pattern->is_regex() && pattern->text() == "trace") rule_.subject = SubjectKind::kTrace;
  rule_.subject_name = std::move(*pattern);
  return {};
}

Result<void> Parser::parse_value() {
  skip_spaces();
  const size_t begin = at_;
  double number = 0;
  const auto [end, error] =
      std::from_chars(text_.data() + begin, text_.data() + text_.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return error_at(begin, "a number is missing");
  at_ = static_cast<size_t>(end - text_.data());
  skip_spaces();
  std::string_view unit = rest();
  while (!unit.empty() && is_space(unit.back())) unit.remove_suffix(1);
  rule_.unit = unit_of(rule_.measure);
  rule_.value = number;
  if (unit.empty()) {
    if (rule_.unit == RuleUnit::kShare && number > 1) {
      return error_at(begin, "a share is at most 1: write {}%", text_.substr(begin, at_ - begin));
    }
    // As in JSON, times without a unit are microseconds.
    if (rule_.unit == RuleUnit::kNanoseconds) rule_.value = scaled(number, 1e3);
    return {};
  }
  for (const UnitWord& word : kUnits) {
    if (word.text != unit) continue;
    const bool idle_share = rule_.measure == Measure::kIdle && word.unit == RuleUnit::kShare;
    if (word.unit != rule_.unit && !idle_share) {
      return error_at(at_, "\"{}\" does not fit; this measure is {}", unit, unit_hint(rule_.unit));
    }
    rule_.unit = word.unit;
    rule_.value = scaled(number, word.factor);
    return {};
  }
  return error_at(at_, "\"{}\" is not a unit; this measure is {}", unit, unit_hint(rule_.unit));
}

Result<void> Parser::parse_cmp_and_value() {
  skip_spaces();
  for (const Word<Cmp>& word : kCmps) {
    if (!rest().starts_with(word.text)) continue;
    at_ += word.text.size();
    rule_.cmp = word.value;
    return parse_value();
  }
  return error_at(at_, "a comparison is missing: {}", word_list(kCmps));
}

bool is_cmp_char(char c) { return c == '=' || c == '!' || c == '<' || c == '>'; }

// The position of a word that consists only of =, !, < and >. npos if there is none.
size_t stray_cmp(std::string_view text) {
  for (size_t begin = text.find_first_not_of(" \t"); begin != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (std::all_of(word.begin(), word.end(), is_cmp_char)) return begin;
    begin = text.find_first_not_of(" \t", end);
  }
  return std::string_view::npos;
}

// count THING cmp value. Names may contain angle brackets, so the comparison is the last one. A
// word of comparison characters alone cannot be part of a name.
Result<void> Parser::parse_count() {
  skip_spaces();
  const size_t begin = at_;
  for (size_t i = text_.size(); i-- > begin;) {
    if (!is_cmp_char(text_[i])) continue;
    const size_t cmp = i > begin && text_[i] == '=' && is_cmp_char(text_[i - 1]) ? i - 1 : i;
    const std::string_view name = text_.substr(begin, cmp - begin);
    const size_t stray = name.starts_with('/') ? std::string_view::npos : stray_cmp(name);
    if (stray != std::string_view::npos) {
      return error_at(begin + stray, "a comparison is missing: {}", word_list(kCmps));
    }
    auto thing = thing_until(cmp);
    EPI_TRY(thing);
    rule_.thing = std::move(*thing);
    return parse_cmp_and_value();
  }
  return error_at(text_.size(), "a comparison is missing: {}", word_list(kCmps));
}

Result<void> Parser::parse_measure() {
  if (const auto* quantifier = find(kQuantifiers, peek_word())) {
    rule_.quantifier = quantifier->value;
    at_ += quantifier->text.size();
    skip_spaces();
  }
  const std::string_view word = peek_word();
  const bool is_of_ranks = rule_.subject == SubjectKind::kRanks;
  const auto* measure = is_of_ranks ? find(kRankMeasures, word) : find(kMeasures, word);
  if (measure == nullptr && is_of_ranks) {
    return error_at(at_, "\"{}\" is not a measure of ranks: {}",
                    word.empty() ? rest().substr(0, 20) : word, word_list(kRankMeasures));
  }
  if (measure == nullptr) {
    return error_at(at_, "\"{}\" is not a measure: {}; or use has, no, same kernels as",
                    word.empty() ? rest().substr(0, 20) : word, word_list(kMeasures));
  }
  rule_.measure = measure->value;
  at_ += word.size();
  return rule_.measure == Measure::kCount ? parse_count() : parse_cmp_and_value();
}

Result<void> Parser::parse_has(bool has) {
  rule_.claim = has ? ClaimKind::kHas : ClaimKind::kHasNo;
  skip_spaces();
  const std::string_view word = peek_word();
  const auto* what = find(kWhats, word);
  if (what == nullptr) {
    return error_at(at_, "\"{}\" is not one of {}", word.empty() ? rest().substr(0, 20) : word,
                    word_list(kWhats));
  }
  rule_.what = what->value;
  at_ += word.size();
  skip_spaces();
  const bool named =
      rule_.what == What::kKernel || rule_.what == What::kOp || rule_.what == What::kCall;
  if (!named) {
    if (at_ < text_.size()) return error_at(at_, "unexpected text after \"{}\"", word);
    return {};
  }
  auto thing = thing_until(text_.size());
  EPI_TRY(thing);
  rule_.thing = std::move(*thing);
  return {};
}

Result<void> Parser::parse_same() {
  for (const std::string_view word : {"kernels", "as"}) {
    skip_spaces();
    if (peek_word() != word) return error_at(at_, "expected \"same kernels as PATH\"");
    at_ += word.size();
  }
  skip_spaces();
  std::string_view path = rest();
  while (!path.empty() && is_space(path.back())) path.remove_suffix(1);
  if (path.empty()) return error_at(at_, "the path of a trace is missing");
  rule_.claim = ClaimKind::kSameKernels;
  rule_.path = path;
  return {};
}

Result<void> Parser::parse_claim() {
  skip_spaces();
  const std::string_view word = peek_word();
  if (rule_.subject == SubjectKind::kRanks) return parse_measure();
  if (word == "has" || word == "no") {
    at_ += word.size();
    return parse_has(word == "has");
  }
  if (word == "same") {
    at_ += word.size();
    return parse_same();
  }
  return parse_measure();
}

Result<Rule> Parser::parse() {
  if (text_.size() > kMaxRuleLength)
    return error_at(kMaxRuleLength, "the rule is longer than {} characters", kMaxRuleLength);
  rule_.text = text_.substr(text_.find_first_not_of(" \t"));
  const auto colon = find_claim();
  EPI_TRY(colon);
  EPI_TRY(parse_subject(*colon));
  at_ = *colon + 1;
  EPI_TRY(parse_claim());
  return std::move(rule_);
}

}  // namespace

Result<Rule> parse_rule(std::string_view text) {
  size_t begin = 0;
  while (begin < text.size() && is_space(text[begin])) ++begin;
  while (text.size() > begin && (is_space(text.back()) || text.back() == '\r'))
    text.remove_suffix(1);
  if (text.size() == begin) return failure("column 1: the rule is empty");
  return Parser(text).parse();
}

}  // namespace epi::analysis
