// The slots of one `culmen worker`, with a master that is written by hand.
#include <thread>

#include "../transport/network_fixture.hpp"
#include "culmen/study/crew/network_workers.hpp"

namespace culmen {
namespace {

/// Reads the greeting of a worker, and welcomes it.
int welcome_one(const ListeningSocket& listener) {
  const int fd = listener.take();
  std::byte some[4096];
  EXPECT_GT(recv(fd, some, sizeof some, 0), 0);
  Bytes out;
  append_frame(out, head_of(welcome), {});
  EXPECT_EQ(send(fd, out.data(), out.size(), MSG_NOSIGNAL), static_cast<ssize_t>(out.size()));
  return fd;
}

TEST(JoinedSlots, one_that_was_cut_off_learns_the_end_of_the_study_from_the_others) {
  auto listener = std::make_unique<ListeningSocket>();
  StudyConfig config;
  config.space = Space{real("x", -1, 1)};
  Joining joining;
  joining.address = "tcp://127.0.0.1:" + std::to_string(listener->port());
  joining.slots = 2;
  joining.patience_s = 1e5;
  NetworkWorkers workers(config, joining, [](const std::vector<double>&) { return Outcome::of_value(0); });
  workers.start();
  const int first = welcome_one(*listener), second = welcome_one(*listener);
  ASSERT_TRUE(workers.wait_joined(hangs_s));
  listener.reset();
  close(first);
  Bytes out;
  append_frame(out, head_of(bye), {});
  EXPECT_EQ(send(second, out.data(), out.size(), MSG_NOSIGNAL), static_cast<ssize_t>(out.size()));
  EXPECT_TRUE(workers.wait(hangs_s));
  EXPECT_EQ(workers.trouble(), "");
  close(second);
}

}  // namespace
}  // namespace culmen
