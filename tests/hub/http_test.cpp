// SPDX-License-Identifier: Apache-2.0
// Packages from a local HTTP server, which can respond correctly, slowly, or with errors.
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "epilogue/hub/open_source.h"
#include "epilogue/hub/store.h"
#include "tests/hub/test_server.h"

namespace epi::hub {
namespace {

namespace fs = std::filesystem;

TEST_F(Http, FetchesOnlyChosenVariantAndOnce) {
  const auto resolution = resolve_package();
  ASSERT_TRUE(resolution) << resolution.error().message;
  ASSERT_TRUE(resolution->chosen && resolution->chosen->is_trusted());
  EXPECT_EQ(resolution->chosen->checked.manifest->variant, kBaseline);
  EXPECT_EQ(resolution->chosen->files.at("README"), "read me");
  EXPECT_EQ(requests_, 7);  // the index, the manifest, their signatures, revoked keys, two files
  ASSERT_TRUE(resolve_package());
  EXPECT_EQ(requests_, 12);  // the files are in the cache
  EXPECT_EQ(std::distance(fs::directory_iterator(cache()), {}), 1);
}

TEST_F(Http, UsesLockedCopyWithoutRequests) {
  options_.sources = {packages().string()};
  const Lock lock = lock_now();
  options_.sources = {address()};
  options_.trust.lock = lock;
  ASSERT_TRUE(resolve_package());
  const int before = requests_;
  const auto again = resolve_package();
  ASSERT_TRUE(again && again->chosen && again->chosen->is_trusted());
  EXPECT_EQ(requests_, before);
  // The same without a server. A changed copy is still refused.
  server_.stop();
  ASSERT_TRUE(resolve_package());
  const auto located = locate({"test/one", 1}, options_);
  ASSERT_TRUE(located) << located.error().message;
  EXPECT_EQ(located->variants.size(), 2U);  // listed by the lock
  write(again->folder / "README", "READ ME");
  const auto changed = resolve_package();
  ASSERT_TRUE(changed && changed->chosen);
  EXPECT_FALSE(changed->chosen->is_trusted());
}

TEST_F(Http, RejectsResignedPackageUnderLock) {
  options_.trust.lock = lock_now();
  write(top_ / "source/README", "read it");
  build(kBaseline);
  sign();
  const auto resolution = resolve_package();
  ASSERT_TRUE(resolution) << resolution.error().message;
  EXPECT_FALSE(resolution->chosen->is_trusted());
  EXPECT_FALSE(fs::exists(cache()));  // refused before any file was requested
}

TEST_F(Http, NamesMissingFile) {
  break_file("/README", [](httplib::Response& response) { response.status = 404; });
  EXPECT_EQ(error(),
            fmt::format("{}/{}/README: not found", address(), path_of({"test/one", 1, kBaseline})));
  break_file("/README", [](httplib::Response& response) { response.status = 503; });
  EXPECT_TRUE(error().ends_with("README: the server returned HTTP status 503")) << error();
  break_file("packages.json", [](httplib::Response& response) { response.status = 404; });
  EXPECT_TRUE(error().ends_with("packages.json: not found")) << error();
  EXPECT_TRUE(!fs::exists(cache()) || fs::is_empty(cache()));
}

TEST_F(Http, NamesFileOfWrongLength) {
  break_file("/README",
             [](httplib::Response& response) { response.set_content("read", "text/plain"); });
  EXPECT_TRUE(error().ends_with("README: received 4 bytes, the manifest lists 7")) << error();
  break_file("/README", [](httplib::Response& response) {
    response.set_content("read me, and more", "text/plain");
  });
  EXPECT_TRUE(error().ends_with("README: 17 bytes exceed the limit of 7")) << error();
}

// Without a Content-Length, the bytes are counted as they arrive.
TEST_F(Http, StopsEndlessResponse) {
  break_file("/manifest.json", [](httplib::Response& response) {
    response.set_chunked_content_provider("text/plain", [](size_t, httplib::DataSink& sink) {
      const std::string much(1 << 16, ' ');
      return sink.write(much.data(), much.size());
    });
  });
  EXPECT_TRUE(error().ends_with("manifest.json: more than the allowed 1048576 bytes")) << error();
}

TEST_F(Http, DiscardsFileOfBrokenConnection) {
  break_file("/lib/one.so", [](httplib::Response& response) {
    response.set_content_provider(72, "text/plain", [](size_t, size_t, httplib::DataSink& sink) {
      sink.write("half", 4);
      return false;
    });
  });
  EXPECT_NE(error().find("lib/one.so: "), std::string::npos) << error();
  EXPECT_TRUE(fs::is_empty(cache()));
  break_file("", nullptr);
  EXPECT_EQ(error(), "");
}

TEST_F(Http, TimesOutOnSlowServer) {
  ::setenv("EPILOGUE_HUB_TIMEOUT", "3", 1);  // a busy machine must not make it the other timeout
  break_file("/lib/one.so", [](httplib::Response& response) {
    response.set_content_provider(72, "text/plain", [](size_t, size_t, httplib::DataSink& sink) {
      // Each byte arrives before the timeout.
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
      return sink.write("x", 1);
    });
  });
  const std::string message = error();
  EXPECT_NE(message.find("lib/one.so: too slow: "), std::string::npos) << message;
}

TEST_F(Http, TimesOutOnSilentServer) {
  break_file("/README", [](httplib::Response& response) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    response.set_content("read me", "text/plain");
  });
  EXPECT_NE(error().find("README: "), std::string::npos) << error();
}

TEST_F(Http, RejectsChangedBytesOfRightLength) {
  break_file("/README",
             [](httplib::Response& response) { response.set_content("READ ME", "text/plain"); });
  const auto resolution = resolve_package();
  ASSERT_TRUE(resolution) << resolution.error().message;
  ASSERT_TRUE(resolution->chosen);
  EXPECT_TRUE(refusal_text(*resolution).find("README: sha256 is ") != std::string::npos);
  EXPECT_TRUE(fs::is_empty(cache()));
}

// An endless header: each line arrives before the timeout.
TEST_F(Http, TimesOutOnSlowHeader) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_GE(listener, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(any);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&any), size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&any), &size), 0);
  std::thread slow([&] {
    const int client = ::accept(listener, nullptr, nullptr);
    if (client < 0) return;
    ::send(client, "HTTP/1.1 200 OK\r\n", 17, MSG_NOSIGNAL);
    for (int i = 0; i < 60 && ::send(client, "X: y\r\n", 6, MSG_NOSIGNAL) == 6; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    ::close(client);
  });
  options_.sources = {fmt::format("http://127.0.0.1:{}", ntohs(any.sin_port))};
  const auto start = std::chrono::steady_clock::now();
  EXPECT_NE(error().find("packages.json: "), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(6));
  slow.join();
  ::close(listener);
}

TEST_F(Http, ReportsUnreachableServer) {
  server_.stop();
  EXPECT_TRUE(error().starts_with(address() + "/packages.json: ")) << error();
}

// Eight processes of the tool run at once, and all must succeed. They are not forked, because
// threads of the server may hold locks.
TEST_F(Http, ConcurrentProcessesFetchSamePackage) {
  // This server queues five connections and drops others.
  ::setenv("EPILOGUE_HUB_TIMEOUT", "20", 1);
  write(top_ / "keyring", keyring_line(key_.id(), "the test"));
  const std::string tool = fs::read_symlink("/proc/self/exe").parent_path() / "epilogue";
  const std::string command =
      fmt::format("cd {} && {} hub $0 test/one@1 --source {} --keyring keyring >out.$1 2>&1",
                  top_.string(), tool, address());
  const auto all = [&](const std::string& verb, std::ptrdiff_t stored) {
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
      const std::string number = std::to_string(i);
      const char* words[] = {"sh", "-c", command.c_str(), verb.c_str(), number.c_str(), nullptr};
      pid_t child = 0;
      const auto arguments = const_cast<char* const*>(words);
      ASSERT_EQ(::posix_spawnp(&child, "sh", nullptr, nullptr, arguments, environ), 0);
      children.push_back(child);
    }
    for (size_t i = 0; i < children.size(); ++i) {
      int status = 0;
      ASSERT_EQ(::waitpid(children[i], &status, 0), children[i]);
      EXPECT_EQ(status, 0) << verb << ": " << read(top_ / fmt::format("out.{}", i));
    }
    EXPECT_EQ(std::distance(fs::directory_iterator(cache()), {}), stored);  // no temporary folders
  };
  for (int round = 0; round < 3; ++round) all("verify", 2);  // cold, then warm, for both variants
#if defined(__x86_64__)                                      // the architecture of the package
  for (const auto& stored : fs::directory_iterator(cache()))
    write(stored.path() / "README", "READ ME");
  all("get --device cpu", 2);  // refetches damaged copies
  all("get --device cpu", 2);
#endif
}

TEST_F(Http, RemovesLeftoversOfCrashedFetch) {
  const fs::path left = cache() / ".fetch-old";
  fs::create_directories(left);
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(48));
  ASSERT_TRUE(resolve_package());
  EXPECT_EQ(std::distance(fs::directory_iterator(cache()), {}), 1);
}

TEST_F(Http, LockUsesFirstSourceWithPackage) {
  fs::create_directories(top_ / "empty");
  options_.trust.lock = lock_now();
  options_.sources = {(top_ / "empty").string(), address(), packages().string()};
  const auto resolution = resolve_package();
  ASSERT_TRUE(resolution) << resolution.error().message;
  EXPECT_EQ(resolution->source, address());
}

TEST_F(TestPackage, SkipsUnlockedVariant) {
  options_.trust.lock = lock_now();
  options_.trust.lock->packages[0].variants.erase(kOther);
  Host strong = host();
  strong.features = {"avx2"};
  const auto resolution = resolve({"test/one", 1}, strong, options_);
  ASSERT_TRUE(resolution && resolution->chosen);
  EXPECT_EQ(resolution->chosen->checked.manifest->variant, kBaseline);
  EXPECT_EQ(resolution->decisions[0].refusal, "not in epilogue.lock");
}

// `hub get` refetches a damaged copy. Loading only refuses it.
TEST_F(Http, RefetchesDamagedCopyOnRequest) {
  const auto first = resolve_package();
  ASSERT_TRUE(first);
  write(first->folder / "README", "READ ME");
  EXPECT_FALSE(resolve_package()->chosen->is_trusted());
  options_.refetch_damaged = true;
  EXPECT_TRUE(resolve_package()->chosen->is_trusted());
  options_.refetch_damaged = false;
  EXPECT_TRUE(resolve_package()->chosen->is_trusted());
}

TEST(Sources, RejectsUnsupportedAddresses) {
  for (const char* text :
       {"ftp://host/x", "file://host/x", "file:relative", "http://", "https:///x",
        "/no/such/folder", "http://host/a b", "http://me:secret@host/", "file:///a%zz"}) {
    const auto source = open_source(text);
    EXPECT_FALSE(source) << text;
  }
  EXPECT_TRUE(open_source("file:///tmp"));
  EXPECT_TRUE(open_source("/tmp"));
  EXPECT_TRUE(open_source("https://example.org/kernels/"));
}

}  // namespace
}  // namespace epi::hub
