// What the master answers to a greeting that it cannot welcome.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/transport/network/blocking_socket.hpp"
#include "culmen/transport/network/joined_endpoint.hpp"
#include "culmen/transport/network/open_transport.hpp"
#include "culmen/transport/network/wire.hpp"

namespace culmen {
namespace {

std::unique_ptr<OpenTransport> listen_for(std::size_t connections) {
  ListenOptions options;
  options.address = {"tcp", "127.0.0.1", 0};
  options.token = "secret";
  options.work = 7;
  options.connections = connections;
  return make_open_transport(options);
}

JoinOptions to_join(const OpenTransport& transport) {
  JoinOptions options;
  options.address = transport.address();
  options.token = "secret";
  options.work = 7;
  options.patience_s = 300;
  return options;
}

/// The first frame after a greeting that is written by hand.
std::pair<FrameKind, std::string> answer_to(BlockingSocket& socket, const std::string& version = CULMEN_VERSION) {
  Greeting said{"secret", 7, "by hand"};
  said.version = version;
  Bytes out;
  append_frame(out, head_of(greeting), encode(said));
  socket.write(out);
  const auto block = socket.read_all();
  BytesView rest = block, body;
  FrameHead head;
  EXPECT_TRUE(next_frame(rest, head, body));
  EXPECT_TRUE(rest.empty());
  return {head.kind, text_in(body)};
}

TEST(Greeting, of_another_version_of_culmen_is_refused) {
  const auto transport = listen_for(10);
  BlockingSocket socket;
  socket.connect(transport->address());
  const auto [kind, why] = answer_to(socket, "0.0.7");
  EXPECT_EQ(kind, refusal);
  EXPECT_EQ(why, "it has culmen 0.0.7, and the run has culmen " CULMEN_VERSION "; install the same version on both");
}

TEST(Greeting, of_one_worker_too_many_is_refused_with_the_reason) {
  const auto transport = listen_for(1);
  const auto first = join_master(to_join(*transport));
  BlockingSocket socket;
  socket.connect(transport->address());
  const auto [kind, why] = answer_to(socket);
  EXPECT_EQ(kind, refusal);
  EXPECT_EQ(why, "the run has 1 workers already, and takes no more; start it when some have left");
  EXPECT_THROW(join_master(to_join(*transport)), InputError);
}

TEST(Greeting, after_the_end_of_the_study_is_answered_with_bye) {
  const auto transport = listen_for(10);
  BlockingSocket early;
  early.connect(transport->address());
  const auto later = join_master(to_join(*transport));  // then the early one was accepted, too
  transport->dismiss();
  EXPECT_EQ(answer_to(early).first, bye);
}

/// Says nothing.
struct Deaf {
  Deaf() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(bind(listening, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(listen(listening, 1), 0);
    EXPECT_EQ(getsockname(listening, reinterpret_cast<sockaddr*>(&at), &size), 0);
    port = ntohs(at.sin_port);
  }
  ~Deaf() { close(listening); }
  Deaf(const Deaf&) = delete;
  Deaf& operator=(const Deaf&) = delete;
  int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port = 0;
};

/// Answers the greeting of one worker with this frame.
void play_master(int listening, FrameKind kind) {
  const int fd = accept(listening, nullptr, nullptr);
  std::byte some[4096];
  EXPECT_GT(recv(fd, some, sizeof some, 0), 0);
  Bytes out;
  append_frame(out, head_of(kind), {});
  EXPECT_EQ(send(fd, out.data(), out.size(), MSG_NOSIGNAL), static_cast<ssize_t>(out.size()));
  close(fd);
}

TEST(Greeting, answered_with_bye_is_the_end_of_the_study) {
  const Deaf deaf;
  std::thread master([&] { play_master(deaf.listening, bye); });
  JoinOptions options;
  options.address = {"tcp", "127.0.0.1", deaf.port};
  const auto worker = join_master(options);
  master.join();
  EXPECT_TRUE(worker->closed());
  EXPECT_EQ(worker->trouble(), "");
}

class Joining : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schemes, Joining, testing::Values("tcp", "wss", "tcp-per-item"));

TEST_P(Joining, ends_with_leave_though_the_master_never_answers) {
  const Deaf deaf;
  JoinOptions options;
  options.address = {GetParam(), "127.0.0.1", deaf.port};
  options.patience_s = 1e5;
  const auto worker = make_joined_endpoint(options);
  std::thread joining([&] { worker->join(); });
  const int fd = accept(deaf.listening, nullptr, nullptr);
  worker->leave();
  joining.join();
  close(fd);
  EXPECT_TRUE(worker->closed());
  EXPECT_EQ(worker->trouble(), "");
}

}  // namespace
}  // namespace culmen
