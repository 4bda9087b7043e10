// The door protocol, explored exhaustively: every interleaving of a master, two workers and the watcher, sequentially
// consistent, with a kill of one worker between any two steps.
#include <gtest/gtest.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "door_world.hpp"

namespace culmen::door_model {
namespace {

struct Fingerprint {
  std::uint64_t a, b;
  bool operator==(const Fingerprint&) const = default;
};
struct FingerprintHash {
  std::size_t operator()(const Fingerprint& f) const { return f.a; }
};

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

Fingerprint fingerprint(const State& state) {
  std::array<std::uint64_t, sizeof(State) / 8> words;
  std::memcpy(words.data(), &state, sizeof state);
  Fingerprint f{1, 2};
  for (const auto word : words) {
    f.a = (f.a ^ word) * 0x9e3779b97f4a7c15;
    f.a ^= f.a >> 29;
    f.b = (f.b + word) * 0xd6e8feb86659fd93;
    f.b ^= f.b >> 31;
  }
  return {mix(f.a), mix(f.b)};
}

struct Exploration {
  std::size_t states = 0;
  std::size_t ends = 0;
  std::string violation;  ///< empty: none is reachable
};

/// Depth first over all states.
template <class Rules>
class Explorer {
 public:
  explicit Explorer(const Scenario& scenario) : world_(scenario) {}

  Exploration run() {
    push(world_.initial());
    while (!path_.empty() && result_.violation.empty()) advance();
    return result_;
  }

 private:
  struct Place {
    State state;
    std::uint32_t choice = 0;
    bool stuck = true;
  };
  static constexpr std::uint32_t choices = 2 * (workers + 2);  // a step of each actor, then a kill of each

  void push(const State& state) {
    if (!known_.insert(fingerprint(state)).second) return;
    ++result_.states;
    path_.push_back({state});
  }
  void advance() {
    auto& place = path_.back();
    if (place.choice == choices) {
      if (place.stuck) judge(place.state);
      path_.pop_back();
      return;
    }
    const auto choice = place.choice++;
    const auto who = choice % (choices / 2);
    State next = place.state;
    if (choice < choices / 2) {
      if (!world_.enabled(next, who)) return;
      place.stuck = false;
      world_.step(next, who);
    } else {
      if (!world_.can_be_killed(next, who)) return;
      world_.kill(next, who);
    }
    push(next);
  }
  void judge(const State& state) {
    ++result_.ends;
    const char* wrong = world_.verdict(state);
    if (!wrong) return;
    result_.violation = std::string(wrong) + "; choices so far:";
    for (const auto& place : path_) result_.violation += ' ' + std::to_string(place.choice - 1);
  }

  World<Rules> world_;
  std::unordered_set<Fingerprint, FingerprintHash> known_;
  std::vector<Place> path_;
  Exploration result_;
};

template <class Rules = DoorRules>
Exploration explore(const Scenario& scenario) {
  const auto result = Explorer<Rules>(scenario).run();
  std::printf("  %zu states, %zu ends\n", result.states, result.ends);
  return result;
}

struct RingOnlyWhenClear : DoorRules {
  static constexpr bool ring_always = false;
};
struct TakeTheSleepingFlag : DoorRules {
  static constexpr bool look_without_take = false;
};
struct SleepWithoutSecondLook : DoorRules {
  static constexpr bool second_look = false;
};
struct WantSpaceWithoutLookingAgain : DoorRules {
  static constexpr bool look_at_space_again = false;
};

constexpr Scenario results{.items = 2, .capacity = 2, .kill = true};
constexpr Scenario results_through_full_rings{.items = 2, .capacity = 1, .kill = true};
constexpr Scenario requests_through_full_rings{
    .items = 2, .capacity = 1, .request = true, .answer = false, .kill = true};
constexpr Scenario answers{.items = 1, .capacity = 1, .request = true, .kill = true};
constexpr Scenario answers_of_one_through_full_rings{
    .items = 2, .workers = 1, .capacity = 1, .request = true, .kill = true};
constexpr Scenario leaving{.items = 1, .leave = true, .kill = true};
constexpr Scenario close_while_receiving{.items = 1, .capacity = 1, .request = true, .close = true, .kill = true};
constexpr Scenario close_while_sending{.items = 2, .capacity = 1, .close = true, .kill = true};

TEST(Door, nobody_sleeps_for_ever_when_workers_send_and_one_is_killed) { EXPECT_EQ(explore(results).violation, ""); }
TEST(Door, nobody_sleeps_for_ever_at_full_rings_when_one_is_killed) {
  EXPECT_EQ(explore(results_through_full_rings).violation, "");
}
TEST(Door, nobody_sleeps_for_ever_when_the_master_sends_through_full_rings) {
  EXPECT_EQ(explore(requests_through_full_rings).violation, "");
}
TEST(Door, nobody_sleeps_for_ever_when_workers_answer) { EXPECT_EQ(explore(answers).violation, ""); }
TEST(Door, nobody_sleeps_for_ever_when_answers_go_through_full_rings) {
  EXPECT_EQ(explore(answers_of_one_through_full_rings).violation, "");
}
TEST(Door, a_worker_that_leaves_or_is_killed_is_noticed) { EXPECT_EQ(explore(leaving).violation, ""); }
TEST(Door, close_ends_workers_that_receive) { EXPECT_EQ(explore(close_while_receiving).violation, ""); }
TEST(Door, close_ends_workers_that_send) { EXPECT_EQ(explore(close_while_sending).violation, ""); }

TEST(DoorExploration, finds_ringing_only_when_the_bit_was_clear) {
  EXPECT_NE(explore<RingOnlyWhenClear>(results).violation, "");
}
TEST(DoorExploration, finds_taking_the_sleeping_flag) {
  EXPECT_NE(explore<TakeTheSleepingFlag>(results).violation, "");
}
TEST(DoorExploration, finds_sleeping_without_a_second_look) {
  constexpr Scenario without_kill{.items = 2, .capacity = 2};
  EXPECT_NE(explore<SleepWithoutSecondLook>(without_kill).violation, "");
}
TEST(DoorExploration, finds_wanting_space_without_looking_again) {
  constexpr Scenario without_kill{.items = 2, .capacity = 1};
  EXPECT_NE(explore<WantSpaceWithoutLookingAgain>(without_kill).violation, "");
}

}  // namespace
}  // namespace culmen::door_model
