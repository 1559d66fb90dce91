// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/page/page.h"

#include <fmt/format.h>

#include "epilogue/base/json_writer.h"
#include "epilogue/report/page/page_data.h"
#include "epilogue/report/page/page_files.h"
#include "epilogue/report/page/page_timeline.h"
#include "epilogue/report/text/units.h"

namespace epi::report {
namespace {

// A larger page is rebuilt with half the number of events and rows.
constexpr size_t kMaxBytes = 25'000'000;
constexpr size_t kMinEvents = 1000;

// The limits for one page.
struct PageLimits {
  size_t events = 300'000;  // drawn individually, of all traces
  size_t rows = 2000;       // per table
};

// Escapes "<", which could end the script element.
std::string script_safe(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    c == '<' ? out += "\\u003c" : out += c;
  }
  return out;
}

// Converts the 64 hexadecimal digits of a SHA-256 hash to base64, as a Content-Security-Policy
// needs it.
std::string base64_of(std::string_view hex) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  // Three hexadecimal digits are two base64 digits. 32 bytes need one "=" as padding.
  for (size_t at = 0; at < hex.size(); at += 3) {
    const std::string part =
        std::string(hex.substr(at, 3)) + std::string(at + 3 > hex.size() ? 2 : 0, '0');
    const int value = std::stoi(part.substr(0, 3), nullptr, 16);
    out += kDigits[static_cast<size_t>(value >> 6)];
    out += kDigits[static_cast<size_t>(value & 63)];
  }
  return out.substr(0, 43) + "=";
}

std::string data_element(const std::string& id, const std::string& json) {
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id,
                     script_safe(json));
}

// Limits the size of a page with long names. The page's own sentences are shorter.
constexpr size_t kMaxTextLength = 4000;

std::string page_of(const PageData& data, const PageLimits& limits) {
  JsonWriter json(kMaxTextLength);
  json.begin_object().key("schema").integer(2);
  legend_json(json);
  json.key("files").begin_array();
  const std::vector<size_t> tree_steps = steps_of_trees(data);
  std::string large;  // parsed by the page after its first frame
  for (size_t i = 0; i < data.files.size(); ++i) {
    const PageFile& file = data.files[i];
    const auto timeline = make_timeline(file.models.index(), limits.events / data.files.size());
    const EventPlaces places(timeline);
    file_json(json, file, places, limits.rows);
    large += data_element(fmt::format("timeline-{}", i),
                          timeline_json(file.models.index(), timeline, places, file.models.steps(),
                                        file.idle, file.screen.advised.diagnosis));
    large += data_element(fmt::format("tree-{}", i), tree_json(file, tree_steps[i], places));
  }
  json.end_array().key("differences");
  if (data.comparison) {
    json.begin_object();
    differences_json(json, data, limits.rows);
    json.end_object();
  } else {
    json.null();
  }
  json.end_object();
  std::string out(kPageHead);
  const auto fill_in = [&](std::string_view placeholder, std::string_view text) {
    out.replace(out.find(placeholder), placeholder.size(), text);
  };
  fill_in("{policy}", fmt::format("default-src 'none'; style-src 'unsafe-inline'; script-src "
                                  "'sha256-{}'; base-uri 'none'; form-action 'none'",
                                  base64_of(kScriptHash)));
  fill_in("{style}", kPageStyle);
  fill_in("{script}", kPageScript);
  fill_in("{data}", data_element("data", json.text()) + large);
  return out;
}

}  // namespace

std::string page_html(const std::vector<PageTrace>& traces) {
  const PageData data = page_data(traces);
  for (PageLimits limits;; limits.events /= 2, limits.rows /= 2) {
    std::string page = page_of(data, limits);
    if (page.size() <= kMaxBytes || limits.events < kMinEvents) return page;
  }
}

std::string text_of(const WrittenPage& page, const Style& /*style*/) {
  return fmt::format("{}: {}, opens offline in a browser\n", page.file,
                     bytes_text(static_cast<double>(page.bytes)));
}

}  // namespace epi::report
