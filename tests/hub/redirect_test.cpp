// SPDX-License-Identifier: Apache-2.0
// A server cannot send a client to another server, or from https: to http:.
#include "epilogue/hub/http_url.h"
#include "tests/hub/test_server.h"

namespace epi::hub {
namespace {

std::string target(const char* server, const char* location, bool any = false) {
  const auto url = redirect_target({server, "/kernels/a/packages.json"}, location, any);
  return url ? url->server + url->path : "refused";
}

TEST(Redirects, StayOnServer) {
  const char* kHost = "https://example.org";
  EXPECT_EQ(target(kHost, "/b"), "https://example.org/b");
  EXPECT_EQ(target(kHost, "b?c=d#e"), "https://example.org/kernels/a/b?c=d");
  EXPECT_EQ(target(kHost, "https://EXAMPLE.org:443/b"), "https://EXAMPLE.org:443/b");
  EXPECT_EQ(target("http://example.org", "https://example.org/b"), "https://example.org/b");
  EXPECT_EQ(target(kHost, "//example.org"), "https://example.org/");
  EXPECT_EQ(target(kHost, "/b@1"), "https://example.org/b@1");
  for (const char* location :
       {"http://example.org/b", "https://example.org.evil.org/b", "https://evil.org/b",
        "//evil.org/b", "https://example.org:8443/b", "https://example.org@evil.org/b",
        "file:///etc/passwd", "ftp://example.org/b", "https://", "/a b", "/a\\b"}) {
    EXPECT_EQ(target(kHost, location), "refused") << location;
  }
  EXPECT_EQ(target("http://example.org", "http://evil.org/b"), "refused");
  EXPECT_EQ(target(kHost, "http://evil.org/b", true), "http://evil.org/b");
  EXPECT_EQ(target(kHost, "file:///etc/passwd", true), "refused");
}

TEST_F(Http, FollowsRedirectOnSameServer) {
  const std::string path = "/kernels/" + path_of({"test/one", 1, kBaseline});
  std::filesystem::rename(folder() / "README", folder() / "elsewhere");
  break_file("/README",
             [&](httplib::Response& response) { response.set_redirect(path + "/elsewhere"); });
  const auto resolution = resolve_package();
  ASSERT_TRUE(resolution) << resolution.error().message;
  EXPECT_EQ(refusal_text(*resolution), "");
}

TEST_F(Http, RefusesRedirectToAnotherServer) {
  // A second server with the same packages.
  httplib::Server other;
  std::atomic<int> requests = 0;
  other.set_pre_routing_handler([&](const httplib::Request&, httplib::Response&) {
    ++requests;
    return httplib::Server::HandlerResponse::Unhandled;
  });
  other.set_mount_point("/kernels", packages().string());
  const int port = other.bind_to_any_port("127.0.0.1");
  std::thread thread([&] { other.listen_after_bind(); });
  while (!other.is_running()) std::this_thread::yield();
  const std::string there = fmt::format("http://127.0.0.1:{}/kernels/packages.json", port);
  break_file("/packages.json", [&](httplib::Response& response) { response.set_redirect(there); });
  EXPECT_EQ(error(),
            fmt::format("{}/packages.json: the server redirects to \"{}\", which is another "
                        "server: use that address as the source, or set "
                        "EPILOGUE_HUB_REDIRECTS=any to follow it",
                        address(), there));
  EXPECT_EQ(requests, 0);
  ::setenv("EPILOGUE_HUB_REDIRECTS", "any", 1);
  EXPECT_EQ(error(), "");
  EXPECT_EQ(requests, 1);
  ::unsetenv("EPILOGUE_HUB_REDIRECTS");
  other.stop();
  thread.join();
}

TEST_F(Http, StopsEndlessRedirects) {
  break_file("/packages.json",
             [](httplib::Response& response) { response.set_redirect("/kernels/packages.json"); });
  EXPECT_TRUE(error().ends_with("packages.json: too many redirects")) << error();
  EXPECT_LE(requests_, 20);
}

// Sets a variable of the environment while it exists.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

std::string error_with(const char* name, const char* value) {
  const Variable variable(name, value);
  const auto options = make_options({});
  return options ? "" : options.error().message;
}

TEST(HttpEnvironment, RefusesUnknownValues) {
  for (const char* value : {"soon", "0", "-1", "1.5", "010", "86401", "99999999999999999999"}) {
    EXPECT_EQ(
        error_with("EPILOGUE_HUB_TIMEOUT", value),
        fmt::format("EPILOGUE_HUB_TIMEOUT={}: must be a number of seconds from 1 to 86400", value));
  }
  for (const char* value : {"all", "ANY", "1", "none"}) {
    EXPECT_EQ(error_with("EPILOGUE_HUB_REDIRECTS", value),
              fmt::format("EPILOGUE_HUB_REDIRECTS={}: must be \"any\", or not set", value));
  }
}

TEST(HttpEnvironment, AcceptsKnownValues) {
  for (const char* value : {"", "1", "86400"}) {
    EXPECT_EQ(error_with("EPILOGUE_HUB_TIMEOUT", value), "");
  }
  for (const char* value : {"", "any"}) EXPECT_EQ(error_with("EPILOGUE_HUB_REDIRECTS", value), "");
}

}  // namespace
}  // namespace epi::hub
