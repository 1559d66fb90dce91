// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/open_source.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "epilogue/hub/file_io.h"
#include "epilogue/hub/http_source.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

class FolderSource final : public Source {
 public:
  FolderSource(std::string name, fs::path folder)
      : name_(std::move(name)), folder_(std::move(folder)) {}

  const std::string& name() const override { return name_; }
  fs::path folder() const override { return folder_; }
  Result<std::optional<std::string>> find(const std::string& path, int64_t max_bytes,
                                          const FetchProgress& /*progress*/) const override {
    std::error_code ignored;
    const auto status = fs::symlink_status(folder_ / path, ignored);
    if (status.type() == fs::file_type::not_found) return std::optional<std::string>();
    auto bytes = read_package_file(folder_ / path, max_bytes);
    EPI_TRY(bytes);
    return std::optional(std::move(*bytes));
  }

 private:
  std::string name_;
  fs::path folder_;
};

// Decodes percent-encoding: "%20" is a space.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned value = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 2 || parsed.ptr != digits.data() + 2 || value == 0) return std::nullopt;
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<Source>> open_source(const std::string& text) {
  if (text.starts_with("http://") || text.starts_with("https://")) {
    return open_http_source(text);
  }
  fs::path folder = text;
  if (text.starts_with("file:")) {
    std::string_view rest = std::string_view(text).substr(5);
    if (rest.starts_with("//localhost/")) rest.remove_prefix(11);
    if (rest.starts_with("///")) rest.remove_prefix(2);
    if (!rest.starts_with('/') || rest.starts_with("//")) {
      return failure("{}: a file: address needs an absolute path, such as file:///srv/kernels",
                     text);
    }
    auto decoded = percent_decoded(rest);
    if (!decoded) return failure("{}: % must be followed by two hex digits", text);
    folder = std::move(*decoded);
  } else if (text.find("://") != std::string::npos) {
    return failure("{}: unknown address type, must be a folder, file:, http: or https:", text);
  }
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return failure("{}: there is no such folder", text);
  return std::make_unique<FolderSource>(text, folder);
}

}  // namespace epi::hub
