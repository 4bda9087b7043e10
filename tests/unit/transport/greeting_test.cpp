// The master's answers to greetings that it must refuse.
#include <array>
#include <cstring>
#include <thread>

#include "network_fixture.hpp"

namespace culmen {
namespace {

/// The answer to a greeting that is written by hand.
std::pair<FrameKind, std::string> answer_to(BlockingSocket& socket, const std::string& version = CULMEN_VERSION) {
  Bytes out;
  append_frame(out, head_of(greeting), encode(greeting_by_hand(version)));
  socket.write(out);
  return only_frame(socket);
}

TEST(Greeting, of_another_version_of_culmen_is_refused) {
  const auto transport = make_open_transport(listen_at("tcp"));
  BlockingSocket socket;
  socket.connect(transport->address());
  const auto [kind, why] = answer_to(socket, "0.0.7");
  EXPECT_EQ(kind, refusal);
  EXPECT_EQ(why, "it has culmen 0.0.7, and the run has culmen " CULMEN_VERSION "; install the same version on both");
}

TEST(Greeting, of_a_former_protocol_is_refused) {
  const auto transport = make_open_transport(listen_at("tcp"));
  BlockingSocket socket;
  socket.connect(transport->address());
  auto said = encode(greeting_by_hand());
  const std::string mark = "CULMEN02";
  std::memcpy(said.data(), mark.data(), mark.size());
  Bytes out;
  append_frame(out, head_of(greeting), said);
  socket.write(out);
  const auto [kind, why] = only_frame(socket);
  EXPECT_EQ(kind, refusal);
  EXPECT_EQ(why, "its greeting is not one of culmen " CULMEN_VERSION "; install this version there, too");
}

TEST(Greeting, of_one_worker_too_many_is_refused_with_the_reason) {
  auto options = listen_at("tcp");
  options.connections = 1;
  const auto transport = make_open_transport(options);
  const auto first = join_master(joining(*transport));
  BlockingSocket socket;
  socket.connect(transport->address());
  const auto [kind, why] = answer_to(socket);
  EXPECT_EQ(kind, refusal);
  EXPECT_EQ(why, "the run has 1 workers already, and takes no more; start it when some have left");
  EXPECT_THROW(join_master(joining(*transport)), InputError);
}

TEST(Greeting, after_the_end_of_the_study_is_answered_with_bye) {
  const auto transport = make_open_transport(listen_at("tcp"));
  BlockingSocket early;
  early.connect(transport->address());
  const auto later = join_master(joining(*transport));  // then the early one was accepted, too
  transport->dismiss();
  EXPECT_EQ(answer_to(early).first, bye);
}

TEST(Greeting, of_a_worker_gets_through_beside_many_that_say_nothing) {
  auto options = listen_at("tcp");
  options.handshakes = 4;
  const auto transport = make_open_transport(options);
  std::array<BlockingSocket, 12> silent;
  for (auto& socket : silent) socket.connect(transport->address());
  const auto worker = join_master(joining(*transport));
  EXPECT_TRUE(silent.front().read_all().empty());  // the oldest one was ended
}

TEST(Greeting, answered_with_bye_is_the_end_of_the_study) {
  const ListeningSocket listener;
  std::thread master([&] { play_master(listener, bye); });
  JoinOptions options;
  options.address = {"tcp", "127.0.0.1", listener.port()};
  const auto worker = join_master(options);
  master.join();
  EXPECT_TRUE(worker->closed());
  EXPECT_EQ(worker->trouble(), "");
}

class Joining : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schemes, Joining, testing::Values("tcp", "wss", "tcp-per-item"));

TEST_P(Joining, ends_with_leave_though_the_master_never_answers) {
  const ListeningSocket listener;
  JoinOptions options;
  options.address = {GetParam(), "127.0.0.1", listener.port()};
  options.patience_s = 1e5;
  const auto worker = make_joined_endpoint(options);
  std::thread thread([&] { worker->join(); });
  const int fd = listener.take();
  worker->leave();
  thread.join();
  close(fd);
  EXPECT_TRUE(worker->closed());
  EXPECT_EQ(worker->trouble(), "");
}

}  // namespace
}  // namespace culmen
