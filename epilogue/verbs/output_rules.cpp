// SPDX-License-Identifier: Apache-2.0
#include "epilogue/verbs/output_rules.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "epilogue/base/error.h"
#include "epilogue/base/mapped_file.h"

namespace epi::verbs {
namespace {

constexpr std::string_view kGzip = "\x1f\x8b";
constexpr std::string_view kZstd = "\x28\xb5\x2f\xfd";

std::string head_of(const std::string& path) {
  std::array<char, 4096> buffer{};
  std::ifstream file(path, std::ios::binary);
  file.read(buffer.data(), buffer.size());
  return {buffer.data(), static_cast<size_t>(file.gcount())};
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool looks_like(Content content, std::string_view head) {
  switch (content) {
    case Content::kTrace:
      return contains(head, "\"traceEvents\"") || contains(head, "\"schemaVersion\"") ||
             head.starts_with(kGzip) || head.starts_with(kZstd);
    case Content::kTable:
      return head.starts_with("-----") && contains(head, "Self CPU");
    case Content::kPage:
      return head.starts_with("<!doctype html>\n<!-- SPDX") && contains(head, "Epilogue");
    case Content::kManPage:
      return head.starts_with(".TH EPILOGUE");
    case Content::kSchema:
      return contains(head, "\"title\": \"epilogue ");
  }
  throw BugError("an unknown content");
}

const char* name_of(Content content) {
  switch (content) {
    case Content::kTrace:
      return "trace";
    case Content::kTable:
      return "profiler table";
    case Content::kPage:
      return "report";
    case Content::kManPage:
      return "man page";
    case Content::kSchema:
      return "JSON Schema";
  }
  throw BugError("an unknown content");
}

}  // namespace

void refuse_input_as_output(const char* verb, const char* flag, const std::string& output,
                            const std::vector<std::string>& inputs) {
  for (const std::string& file : inputs) {
    std::error_code none;
    if (std::filesystem::equivalent(file, output, none)) {
      fail(verb, "{} {}: would overwrite the input {}", flag, output, file);
    }
  }
}

void refuse_changed_inputs() {
  const std::string path = changed_mapped_file();
  if (!path.empty()) throw Error(path + ": changed while it was read");
}

void refuse_foreign_file(const char* verb, const std::string& path, Content content, bool force) {
  std::error_code none;
  if (force || !std::filesystem::is_regular_file(path, none)) return;
  const std::string head = head_of(path);
  if (head.empty() || looks_like(content, head)) return;
  fail(verb, "{}: exists and is not a {} of this tool: use --force to replace it", path,
       name_of(content));
}

}  // namespace epi::verbs
