// SPDX-License-Identifier: Apache-2.0
// `epilogue open FILE...`: serves traces to ui.perfetto.dev, and our own report of them, on the
// only local address that Perfetto may read. Every user of the machine can connect to it, so the
// paths start with a random part that only the printed links contain.
#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/open/local_server.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/terminal_call.h"
#include "epilogue/cli/trace_commands.h"
#include "epilogue/report/page/page.h"
#include "epilogue/verbs/output_rules.h"

namespace epi::cli {
namespace {

constexpr uint16_t kPort = 9001;  // the only one that ui.perfetto.dev may connect to
constexpr const char* kPerfetto = "https://ui.perfetto.dev";

struct OpenFlags {
  std::vector<verbs::TraceSource> files;
  std::string url;
  bool once = false;
  verbs::ReadingOptions reading;
};

// Percent-encodes text for a part of a URL.
std::string percent_encoded(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string perfetto_link(const std::string& url) {
  return fmt::format("{}/#!/?url={}", kPerfetto, percent_encoded(url));
}

// 128 random bits as hexadecimal digits.
std::string random_part() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    fail("open", "cannot draw a random path: {}", std::strerror(errno));
  }
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

struct ServedTrace {
  std::string name;  // "mlp.json"
  std::string path;  // in the URL: "/5f2c…/mlp.json"
  std::string file;

  std::string report_path() const { return path + ".html"; }
};

std::vector<ServedTrace> served_traces(const std::vector<std::string>& files) {
  std::vector<ServedTrace> served;
  const std::string folder = "/" + random_part() + "/";
  for (const std::string& file : files) {
    const std::string name = std::filesystem::path(file).filename().string();
    const std::string path = folder + percent_encoded(name);
    for (const ServedTrace& other : served) {
      if (other.path == path) fail("open", "{}: another file is also named {}", file, name);
      if (other.report_path() == path || other.path == path + ".html") {
        fail("open", "{}: the report of another file has this name",
             path == other.report_path() ? file : other.name);
      }
    }
    served.push_back({name, path, file});
  }
  return served;
}

// The report pages, built when they are first requested and again when the trace has changed. Used
// by several threads.
class Reports {
 public:
  explicit Reports(const verbs::ReadingOptions& reading) : reading_(reading) {}
  // Null if the file cannot be read: it may be in the middle of being written.
  std::shared_ptr<const std::string> find(const std::string& file) {
    const std::lock_guard lock(mutex_);
    std::error_code failed;
    const auto time = std::filesystem::last_write_time(file, failed);
    Page& page = pages_[file];
    if (page.text != nullptr && !failed && page.time == time) return page.text;
    try {
      page = {std::make_shared<const std::string>(build(file)), time};
      return page.text;
    } catch (const Error&) {
      return nullptr;
    }
  }

 private:
  std::string build(const std::string& file) const {
    const auto inputs = TerminalCall({.reading = reading_}).read({{file, nullptr}});
    std::string page = report::page_html({{file, inputs.at(0).models()}});
    verbs::refuse_changed_inputs();
    return page;
  }

  struct Page {
    std::shared_ptr<const std::string> text;
    std::filesystem::file_time_type time;
  };
  const verbs::ReadingOptions& reading_;
  std::mutex mutex_;
  std::map<std::string, Page> pages_;
};

void print_links(const std::vector<ServedTrace>& served, bool once) {
  const std::string base = fmt::format("http://127.0.0.1:{}", kPort);
  for (const ServedTrace& one : served) {
    print_out("{}\n  Perfetto: {}\n  report:   {}{}\n",
              visible_text(one.name, LineBreaks::kReplace), perfetto_link(base + one.path), base,
              one.report_path());
  }
  print_out(
      "\nOn another machine, run this first: ssh -L {0}:127.0.0.1:{0} THIS-MACHINE\n"
      "{1}\n",
      kPort, once ? "Stops after a trace was fetched, or with Ctrl-C." : "Stop with Ctrl-C.");
  std::fflush(stdout);
}

int open_traces(const OpenFlags& flags) {
  if (!flags.url.empty()) {
    if (!flags.files.empty()) fail("open", "--url cannot be combined with FILE");
    if (!flags.url.starts_with("https://") && !flags.url.starts_with("http://")) {
      fail("open", "--url {}: must start with https:// or http://", flags.url);
    }
    print_out("{}\n", perfetto_link(flags.url));
    return kDone;
  }
  if (flags.files.empty()) fail("open", "no trace given: expected FILE or --url");
  // Reads the traces first, so that errors are reported before the server starts.
  std::vector<std::string> files;
  for (const auto& input : TerminalCall({.reading = flags.reading}).read(flags.files)) {
    files.push_back(input.file);
  }
  const std::vector<ServedTrace> served = served_traces(files);
  LocalServer server(kPort, kPerfetto);
  print_links(served, flags.once);
  Reports reports(flags.reading);
  server.run([&](const std::string& path) -> std::optional<LocalServer::Answer> {
    for (const ServedTrace& one : served) {
      if (path == one.path) {
        return LocalServer::Answer{one.file, nullptr, "application/octet-stream", flags.once};
      }
      if (path != one.report_path()) continue;
      const auto page = reports.find(one.file);
      if (page == nullptr) return std::nullopt;
      return LocalServer::Answer{"", page, "text/html; charset=utf-8", false};
    }
    return std::nullopt;
  });
  return kDone;
}

}  // namespace

void add_open(Command& verb) {
  auto flags = std::make_shared<OpenFlags>();
  verb.add("FILE", flags->files, "Traces, or folders of ranks");
  verb.add("--url", flags->url, "Print the Perfetto link for a trace on a web server")
      .value_name("URL");
  add_max_unpacked(verb, flags->reading);
  verb.add("--once", flags->once, "Exit once a trace has been fetched");
  verb.run([flags] { return open_traces(*flags); });
}

}  // namespace epi::cli
