// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/source.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "epilogue/base/json_writer.h"
#include "epilogue/base/result.h"
#include "epilogue/hub/file_io.h"
#include "epilogue/hub/http_source.h"
#include "epilogue/hub/json_fields.h"
#include "epilogue/hub/variant.h"
#include "epilogue/hub/whole_number.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

class FolderSource final : public Source {
 public:
  FolderSource(std::string name, fs::path folder)
      : name_(std::move(name)), folder_(std::move(folder)) {}

  const std::string& name() const override { return name_; }
  fs::path folder() const override { return folder_; }
  Result<PackageIndex> index() const override { return scan_packages(folder_); }
  Result<std::optional<std::string>> find(const std::string& path, int64_t most_bytes,
                                          const FetchProgress& /*progress*/) const override {
    std::error_code ignored;
    const auto status = fs::symlink_status(folder_ / path, ignored);
    if (status.type() == fs::file_type::not_found) return std::optional<std::string>();
    auto bytes = read_package_file(folder_ / path, most_bytes);
    EPI_TRY(bytes);
    return std::optional(std::move(*bytes));
  }

 private:
  std::string name_;
  fs::path folder_;
};

// Names of sub-folders; none where it cannot be read.
std::vector<std::string> folders_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (at->is_directory(gone)) names.push_back(at->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

// "%20" is a space.
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

void scan_versions(const fs::path& package, const std::string& name, PackageIndex& index) {
  for (const std::string& version : folders_in(package)) {
    const auto number = version.starts_with('v') ? whole_number(version.substr(1)) : std::nullopt;
    if (!number) continue;
    for (std::string& variant : folders_in(package / version / "build")) {
      if (parse_variant(variant)) index[name][*number].push_back(std::move(variant));
    }
  }
}

}  // namespace

Result<std::string> Source::read(const std::string& path, int64_t most_bytes,
                                 const FetchProgress& progress) const {
  auto found = find(path, most_bytes, progress);
  EPI_TRY(found);
  if (!*found) return failure("{}/{}: not found", name(), path);
  return std::move(**found);
}

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
      return failure("{}: a file: address has a whole path: file:///srv/kernels", text);
    }
    auto decoded = percent_decoded(rest);
    if (!decoded) return failure("{}: a % is followed by two hex digits", text);
    folder = std::move(*decoded);
  } else if (text.find("://") != std::string::npos) {
    return failure("{}: a folder, file:, http: or https: is needed", text);
  }
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return failure("{}: there is no such folder", text);
  return std::make_unique<FolderSource>(text, folder);
}

std::string path_of(const VariantName& name) {
  return fmt::format("{}/v{}/build/{}", name.package, name.version, name.variant);
}

Result<PackageIndex> scan_packages(const fs::path& folder) {
  PackageIndex index;
  for (const std::string& group : folders_in(folder)) {
    for (const std::string& word : folders_in(folder / group)) {
      const std::string name = fmt::format("{}/{}", group, word);
      if (name_objection(name).empty()) scan_versions(folder / name, name, index);
    }
  }
  return index;
}

Result<PackageIndex> parse_index(std::string_view text, std::string_view path) {
  return read_json(text, path, [](const JsonField& root) {
    PackageIndex index;
    for (const auto& [name, versions] : root.at("packages").members()) {
      if (const auto no = name_objection(name); !no.empty()) versions.refuse(no);
      for (const auto& [version, variants] : versions.members()) {
        const auto number = whole_number(version);
        if (!number) variants.refuse("a version is a whole number");
        for (const JsonField& item : variants.items()) {
          if (const auto variant = parse_variant(item.text()); !variant) {
            item.refuse(variant.error().message);
          }
          index[name][*number].push_back(item.text());
        }
      }
    }
    return index;
  });
}

std::string index_text(const PackageIndex& index) {
  JsonWriter json;
  json.begin_object().key("packages").begin_object();
  for (const auto& [name, versions] : index) {
    json.key(name).begin_object();
    for (const auto& [version, variants] : versions) {
      json.key(std::to_string(version)).begin_array();
      for (const std::string& variant : variants) json.string(variant);
      json.end_array();
    }
    json.end_object();
  }
  return json_indented(json.end_object().end_object().text());
}

}  // namespace epi::hub
