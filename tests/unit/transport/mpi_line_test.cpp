#include "culmen/transport/mpi/mpi_line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace culmen {
namespace {

/// An MPI whose only send is complete after a number of tests; negative: never.
struct FakeMpi {
  int tests_until_sent = 0;
  BytesView message = {};
};
FakeMpi fake;

culmen_mpi_module module_of_fake() {
  culmen_mpi_module m{};
  m.may_use_line = [](int* may) { return *may = 1, 0; };
  m.post_receive = [](void*, std::size_t, int, culmen_mpi_request*) { return 0; };
  m.cancel = [](culmen_mpi_request*) { return 0; };
  m.post_send = [](const void* bytes, std::size_t n, int, int, culmen_mpi_request*) {
    fake.message = {static_cast<const std::byte*>(bytes), n};
    return 0;
  };
  m.test = [](culmen_mpi_request*, int* done, int*, std::size_t*) {
    *done = fake.tests_until_sent == 0;
    fake.tests_until_sent -= fake.tests_until_sent > 0;
    return 0;
  };
  return m;
}

void send_and_end(const Bytes& message) {
  const auto module = module_of_fake();
  MpiLine line(module, {1, 2}, LineEnd::upper);
  EXPECT_TRUE(line.send(1, message));
}

TEST(MpiLine, completes_its_last_sends_at_its_end) {
  fake = {.tests_until_sent = 5};
  send_and_end(Bytes(100, std::byte{7}));
  EXPECT_EQ(fake.tests_until_sent, 0);
}

TEST(MpiLine, a_message_that_nobody_receives_outlives_it) {
  fake = {.tests_until_sent = -1};
  send_and_end(Bytes(100'000, std::byte{7}));
  EXPECT_TRUE(std::ranges::all_of(fake.message, [](std::byte b) { return b == std::byte{7}; }));
}

}  // namespace
}  // namespace culmen
