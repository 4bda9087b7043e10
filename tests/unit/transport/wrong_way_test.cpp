// A worker that comes to a master with the wrong scheme, or to something else than a master.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <tuple>

#include "culmen/base/error.hpp"
#include "culmen/transport/network/joined_endpoint.hpp"
#include "culmen/transport/network/open_transport.hpp"
#include "culmen/transport/network/opening.hpp"
#include "culmen/transport/network/wire.hpp"
#include "network_fixture.hpp"

namespace culmen {
namespace {
using ::testing::HasSubstr;

/// Who refused, and why.
struct Refused {
  bool at_once = false;  ///< it makes no sense to try again
  std::string why = "it joined";
};

Refused try_to_join(const JoinOptions& options) {
  try {
    join_master(options);
  } catch (const InputError& error) {
    return {true, error.what()};
  } catch (const TransportError& error) {
    return {false, error.what()};
  }
  return {};
}

std::unique_ptr<OpenTransport> master_with(const std::string& scheme, const std::string& token = {}) {
  ListenOptions options;
  options.address = {scheme, "127.0.0.1", 0};
  options.token = token;
  options.work = 7;
  return make_open_transport(options);
}

JoinOptions worker_with(const std::string& scheme, std::uint16_t port) {
  JoinOptions options;
  options.address = {scheme, "127.0.0.1", port};
  options.work = 7;
  options.patience_s = hangs_s;
  return options;
}

class WrongScheme : public testing::TestWithParam<std::tuple<const char*, const char*>> {};
const auto schemes_of_both = testing::Values("tcp", "ws", "wss", "tcp-per-item");
INSTANTIATE_TEST_SUITE_P(Pairs, WrongScheme, testing::Combine(schemes_of_both, schemes_of_both), [](const auto& info) {
  auto name = fmt::format("{}_at_{}", std::get<0>(info.param), std::get<1>(info.param));
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
});

TEST_P(WrongScheme, is_answered_with_the_right_one) {
  const auto& [came, listens] = GetParam();
  const std::string worker = came, master = listens;
  if (worker == master) return;
  const auto transport = master_with(master);
  const auto refused = try_to_join(worker_with(worker, transport->address().port));
  EXPECT_TRUE(refused.at_once);
  const auto said = worker == "wss" ? "does not use TLS; write ws:// or tcp://"
                                    : fmt::format("it came with {}://, and the run listens with {}://; write {}://",
                                                  worker, master, master);
  EXPECT_THAT(refused.why, HasSubstr(said));
  EXPECT_THAT(refused.why, HasSubstr(fmt::format("{}://127.0.0.1:{}", worker, transport->address().port)));
  EXPECT_EQ(refused.why.find("--fingerprint") != std::string::npos, master == "wss");
  EXPECT_EQ(transport->connected(), 0U);
}

TEST(WrongScheme, is_told_from_bytes_that_are_of_none) {
  const auto of = [](std::string_view text) { return opening_of(std::as_bytes(std::span(text))); };
  EXPECT_EQ(of("GET / HTTP/1.1"), Opening::http);
  EXPECT_EQ(of("\x16\x03\x01"), Opening::tls);
  for (const auto* text :
       {"", "G", "GET", "\x16", "gibberish that is longer than the head of a frame is, and no frame"})
    EXPECT_EQ(of(text), Opening::unknown) << text;
  Bytes bytes;
  append_frame(bytes, head_of(greeting), {});
  EXPECT_EQ(opening_of(bytes), Opening::greeting);
  bytes.clear();
  append_frame(bytes, head_of(greeting), Bytes(0x0316 - sizeof(FrameHead)));
  EXPECT_EQ(opening_of(bytes), Opening::greeting) << "its length looks like the beginning of TLS";
}

TEST(WrongToken, none_at_all_is_told_from_another_one) {
  const auto transport = master_with("tcp", "secret");
  auto options = worker_with("tcp", transport->address().port);
  EXPECT_THAT(try_to_join(options).why, HasSubstr("it gave no token; give a copy of the run's token file"));
  options.token = "other";
  EXPECT_THAT(try_to_join(options).why, HasSubstr("its token is not the one of this study"));
}

/// A port with something that is no master. It answers each connection with `says`, unless that is empty.
class Stranger {
 public:
  explicit Stranger(std::string says) : says_(std::move(says)) {
    if (!says_.empty()) thread_ = std::thread([this] { answer(); });
  }
  ~Stranger() {
    listening_.end();
    if (thread_.joinable()) thread_.join();
  }
  std::uint16_t port() const { return listening_.port(); }

 private:
  void answer() {
    char bytes[4096];
    for (int one = 0; (one = listening_.take()) >= 0; close(one)) {
      if (recv(one, bytes, sizeof bytes, 0) < 0) continue;
      if (send(one, says_.data(), says_.size(), MSG_NOSIGNAL) < 0) continue;
      shutdown(one, SHUT_WR);
      while (recv(one, bytes, sizeof bytes, 0) > 0) {
      }
    }
  }
  std::string says_;
  ListeningSocket listening_;
  std::thread thread_;
};

class NoMaster : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schemes, NoMaster, testing::Values("tcp", "ws", "wss", "tcp-per-item"),
                         [](const auto& info) { return std::string(info.index == 3 ? "per_item" : info.param); });

TEST_P(NoMaster, that_speaks_http_is_named_at_once) {
  if (std::string(GetParam()) == "tcp-per-item") return;  // it serves benchmarks
  const Stranger stranger("HTTP/1.1 404 Not Found\r\nServer: other\r\nContent-Length: 0\r\n\r\n");
  const auto refused = try_to_join(worker_with(GetParam(), stranger.port()));
  EXPECT_TRUE(refused.at_once);
  EXPECT_THAT(refused.why, HasSubstr(std::string(GetParam()) == "wss" ? "does not use TLS" : "is no culmen run"));
}

TEST_P(NoMaster, at_a_closed_port_is_named) {
  std::uint16_t port = 0;
  {
    const Stranger stranger("");
    port = stranger.port();
  }
  auto options = worker_with(GetParam(), port);
  options.patience_s = 0;
  EXPECT_THAT(try_to_join(options).why, HasSubstr("connection refused: no run listens there; start the run first"));
}

TEST_P(NoMaster, on_an_unknown_host_is_named_at_once) {
  auto options = worker_with(GetParam(), 7443);
  options.address.host = "no-such-host.invalid";
  if (std::string(GetParam()) == "tcp-per-item") options.patience_s = 0;
  EXPECT_THAT(try_to_join(options).why, HasSubstr("this machine knows no host 'no-such-host.invalid'"));
}

/// An attempt without this bound takes 20 s.
TEST_P(NoMaster, that_is_silent_is_not_waited_for_beyond_the_patience) {
  const Stranger silent("");
  auto options = worker_with(GetParam(), silent.port());
  options.patience_s = 0;
  const auto refused = try_to_join(options);
  EXPECT_FALSE(refused.at_once);
  EXPECT_THAT(refused.why, HasSubstr("no answer within 2 s; check the host and the port"));
}

}  // namespace
}  // namespace culmen
