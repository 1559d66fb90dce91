// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/utc_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "epilogue/hub/parse_count.h"

namespace epi::hub {
namespace {

constexpr int64_t kSecondsPerDay = 86'400;
constexpr int64_t kMaxSeconds = 253'402'300'799;  // 9999-12-31T23:59:59Z

int number_in(std::string_view text, size_t at, size_t digits) {
  int value = 0;
  for (const char c : text.substr(at, digits)) value = 10 * value + (c - '0');
  return value;
}

}  // namespace

std::string time_error(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
  const auto same_form = [](char c, char form) {
    return form == '0' ? c >= '0' && c <= '9' : c == form;
  };
  bool valid = std::ranges::equal(text, kForm, same_form);
  if (valid) {
    const std::chrono::year_month_day day(
        std::chrono::year(number_in(text, 0, 4)),
        std::chrono::month(static_cast<unsigned>(number_in(text, 5, 2))),
        std::chrono::day(static_cast<unsigned>(number_in(text, 8, 2))));
    valid = day.ok() && number_in(text, 0, 4) > 0 && number_in(text, 11, 2) < 24 &&
            number_in(text, 14, 2) < 60 && number_in(text, 17, 2) < 60;
  }
  return valid ? "" : "must be a time in UTC such as 2026-11-17T09:00:00Z";
}

std::string utc_time(int64_t seconds) {
  seconds = std::clamp<int64_t>(seconds, 0, kMaxSeconds);
  const std::chrono::sys_days days{std::chrono::days(seconds / kSecondsPerDay)};
  const std::chrono::year_month_day day(days);
  const int64_t rest = seconds % kSecondsPerDay;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()),
                     rest / 3600, rest / 60 % 60, rest % 60);
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return utc_time(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

std::string build_time() {
  const char* text = std::getenv("SOURCE_DATE_EPOCH");
  const auto seconds = text != nullptr ? parse_count(text) : std::nullopt;
  return seconds ? utc_time(*seconds) : utc_now();
}

}  // namespace epi::hub
