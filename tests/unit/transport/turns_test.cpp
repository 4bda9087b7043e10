#include "culmen/transport/network/turns.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace culmen {
namespace {
using namespace std::chrono_literals;

struct Shared {
  std::mutex mutex;
  Turns turns;
  bool ended = false;
  int worked = 0;

  std::thread stand_in() {
    return std::thread([this] {
      Turns::Lock lock(mutex);
      turns.stand_in(
          lock, 1ms, [this] { return ended; },
          [this](Turns::Lock& held) {
            ++worked;
            turns.wake();  // only the alarm and sleepers
            held.unlock();
            turns.alarm().sleep(0.001);
            held.lock();
          });
    });
  }
  void end() {
    {
      const Turns::Lock lock(mutex);
      ended = true;
    }
    turns.wake();
  }
};

TEST(Turns, the_other_thread_works_while_nobody_has_a_turn) {
  Shared shared;
  auto other = shared.stand_in();
  while (true) {
    const Turns::Lock lock(shared.mutex);
    if (shared.worked > 3) break;
  }
  shared.end();
  other.join();
}

TEST(Turns, a_turn_is_given_to_a_thread_that_wants_it_and_to_nobody_else) {
  Shared shared;
  auto other = shared.stand_in();
  for (int i = 0; i < 200; ++i) {
    Turns::Lock lock(shared.mutex);
    const Turns::Turn turn(shared.turns, lock);
    const auto before = shared.worked;
    lock.unlock();
    std::this_thread::sleep_for(100us);
    lock.lock();
    EXPECT_EQ(shared.worked, before);
  }
  shared.end();
  other.join();
}

TEST(Turns, the_other_thread_ends_while_a_turn_lasts) {
  Shared shared;
  auto other = shared.stand_in();
  Turns::Lock lock(shared.mutex);
  const Turns::Turn turn(shared.turns, lock);
  lock.unlock();
  shared.end();
  other.join();
  lock.lock();
}

}  // namespace
}  // namespace culmen
