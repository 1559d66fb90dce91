// SPDX-License-Identifier: Apache-2.0
// The test package behind a local HTTP server, which can respond correctly, slowly, or with errors.
#pragma once

#include <httplib.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "tests/hub/test_package.h"

namespace epi::hub {

class Http : public TestPackage {
 protected:
  void SetUp() override {
    TestPackage::SetUp();
    ::setenv("EPILOGUE_HUB_TIMEOUT", "1", 1);
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          ++requests_;
          if (broken_path_.empty() || !request.path.ends_with(broken_path_)) {
            return httplib::Server::HandlerResponse::Unhandled;
          }
          broken_(response);
          return httplib::Server::HandlerResponse::Handled;
        });
    server_.set_mount_point("/kernels", packages().string());
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
    options_.sources = {address()};
  }
  void TearDown() override {
    server_.stop();
    thread_.join();
    ::unsetenv("EPILOGUE_HUB_TIMEOUT");
    TestPackage::TearDown();
  }

  std::string address() const { return fmt::format("http://127.0.0.1:{}/kernels", port_); }
  Result<Resolution> resolve_package() const { return resolve({"test/one", 1}, host(), options_); }
  std::string error() const {
    const auto resolution = resolve_package();
    return resolution ? "" : resolution.error().message;
  }
  // Answers requests for one file with `answer`.
  void break_file(const std::string& path, std::function<void(httplib::Response&)> answer) {
    broken_path_ = path;
    broken_ = std::move(answer);
  }
  std::filesystem::path cache() const { return top_ / "cache/hub"; }

  httplib::Server server_;
  std::thread thread_;
  int port_ = 0;
  std::atomic<int> requests_ = 0;
  std::string broken_path_;
  std::function<void(httplib::Response&)> broken_;
};

}  // namespace epi::hub
