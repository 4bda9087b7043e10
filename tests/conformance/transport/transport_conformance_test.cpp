#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "conformance/transport/broken_transports.hpp"
#include "conformance/transport/handed_casts.hpp"
#include "conformance/transport/mailbox_casts.hpp"
#include "conformance/transport/merged_casts.hpp"
#include "conformance/transport/network_casts.hpp"
#include "conformance/transport/relay_casts.hpp"
#include "conformance/transport/team_casts.hpp"
#include "culmen/transport/network/scheme.hpp"

namespace culmen::conformance {
namespace {

std::string name_of(const testing::TestParamInfo<Check>& info) { return info.param.name; }

template <class Predicate>
std::vector<Check> checks_that(Predicate predicate) {
  std::vector<Check> chosen;
  std::copy_if(checks().begin(), checks().end(), std::back_inserter(chosen), predicate);
  return chosen;
}
bool threads_will_do(const Check& check) { return !check.needs_processes; }
bool is_quick(const Check& check) { return !check.is_large; }

class MailboxOfThreads : public testing::TestWithParam<Check> {};
TEST_P(MailboxOfThreads, conforms) {
  const Limits limits;
  EXPECT_EQ(GetParam().run(mailbox_threads(limits.ring_bytes), limits), "");
}
INSTANTIATE_TEST_SUITE_P(Checks, MailboxOfThreads, testing::ValuesIn(checks_that(threads_will_do)), name_of);

class MailboxOfProcesses : public testing::TestWithParam<Check> {};
TEST_P(MailboxOfProcesses, conforms) {
  const Limits limits;
  EXPECT_EQ(GetParam().run(mailbox_processes(limits.ring_bytes), limits), "");
}
INSTANTIATE_TEST_SUITE_P(Checks, MailboxOfProcesses, testing::ValuesIn(checks()), name_of);

class SmallestMailbox : public testing::TestWithParam<Check> {};
TEST_P(SmallestMailbox, conforms) {
  const Limits limits{.ring_bytes = 4096};
  EXPECT_EQ(GetParam().run(mailbox_processes(limits.ring_bytes), limits), "");
}
INSTANTIATE_TEST_SUITE_P(Checks, SmallestMailbox, testing::ValuesIn(checks_that(is_quick)), name_of);

/// A network has no ring. Its own buffers take this much, see network_transport.cpp.
constexpr Limits network_limits{.ring_bytes = 64 * 1024};

class NetworkOfThreads : public testing::TestWithParam<std::tuple<std::string, Check>> {};
TEST_P(NetworkOfThreads, conforms) {
  const auto& [scheme, check] = GetParam();
  EXPECT_EQ(check.run(network_threads(scheme), network_limits), "");
}

class NetworkOfProcesses : public testing::TestWithParam<std::tuple<std::string, Check>> {};
TEST_P(NetworkOfProcesses, conforms) {
  const auto& [scheme, check] = GetParam();
  EXPECT_EQ(check.run(network_processes(scheme), network_limits), "");
}

std::string network_name_of(const testing::TestParamInfo<std::tuple<std::string, Check>>& info) {
  const auto& [scheme, check] = info.param;
  auto scheme_name = scheme;
  std::ranges::replace(scheme_name, '-', '_');
  return scheme_name + "_" + check.name;
}
std::vector<std::string> scheme_words() {
  std::vector<std::string> out;
  for (const auto& scheme : schemes()) out.emplace_back(scheme.word);
  return out;
}
const auto each_scheme = testing::ValuesIn(scheme_words());
INSTANTIATE_TEST_SUITE_P(Checks, NetworkOfThreads,
                         testing::Combine(each_scheme, testing::ValuesIn(checks_that(threads_will_do))),
                         network_name_of);
INSTANTIATE_TEST_SUITE_P(Checks, NetworkOfProcesses, testing::Combine(each_scheme, testing::ValuesIn(checks())),
                         network_name_of);

class MergedOfThreads : public testing::TestWithParam<Check> {};
TEST_P(MergedOfThreads, conforms) {
  EXPECT_EQ(GetParam().run(merged_threads(network_limits.ring_bytes), network_limits), "");
}
INSTANTIATE_TEST_SUITE_P(Checks, MergedOfThreads, testing::ValuesIn(checks_that(threads_will_do)), name_of);

class MergedOfProcesses : public testing::TestWithParam<Check> {};
TEST_P(MergedOfProcesses, conforms) {
  EXPECT_EQ(GetParam().run(merged_processes(network_limits.ring_bytes), network_limits), "");
}
INSTANTIATE_TEST_SUITE_P(Checks, MergedOfProcesses, testing::ValuesIn(checks_that(is_quick)), name_of);

bool nobody_leaves(const Check& check) {
  return threads_will_do(check) && check.name != "a_worker_that_leaves_is_lost_once";
}

class Handed : public testing::TestWithParam<Check> {};
TEST_P(Handed, conforms) { EXPECT_EQ(GetParam().run(handed_threads(), Limits()), ""); }
INSTANTIATE_TEST_SUITE_P(Checks, Handed, testing::ValuesIn(checks_that(nobody_leaves)), name_of);
/// The fragments of a ring, or of a line.
constexpr Limits relay_limits[] = {{.ring_bytes = 4096}, {.ring_bytes = 128 * 1024}};

class RelayedThreads : public testing::TestWithParam<Check> {};
TEST_P(RelayedThreads, conforms) {
  for (const auto& limits : relay_limits) EXPECT_EQ(GetParam().run(relayed_threads(limits.ring_bytes), limits), "");
}
INSTANTIATE_TEST_SUITE_P(Checks, RelayedThreads, testing::ValuesIn(checks_that(threads_will_do)), name_of);

class RelayedProcesses : public testing::TestWithParam<Check> {};
TEST_P(RelayedProcesses, conforms) {
  for (const auto& limits : relay_limits) EXPECT_EQ(GetParam().run(relayed_processes(limits.ring_bytes), limits), "");
}
INSTANTIATE_TEST_SUITE_P(Checks, RelayedProcesses, testing::ValuesIn(checks_that(is_quick)), name_of);

class ThreadsBehindRelaysOfRelays : public testing::TestWithParam<Check> {};
TEST_P(ThreadsBehindRelaysOfRelays, conform) {
  for (const auto& limits : relay_limits) EXPECT_EQ(GetParam().run(relayed_threads(limits.ring_bytes, 2), limits), "");
}
INSTANTIATE_TEST_SUITE_P(Checks, ThreadsBehindRelaysOfRelays, testing::ValuesIn(checks_that(threads_will_do)), name_of);

class ProcessesBehindRelaysOfRelays : public testing::TestWithParam<Check> {};
TEST_P(ProcessesBehindRelaysOfRelays, conform) {
  for (const auto& limits : relay_limits)
    EXPECT_EQ(GetParam().run(relayed_processes(limits.ring_bytes, 2), limits), "");
}
INSTANTIATE_TEST_SUITE_P(Checks, ProcessesBehindRelaysOfRelays, testing::ValuesIn(checks_that(is_quick)), name_of);

/// Its check of memory counts one frame for each worker, but every member of a team has one.
bool teams_will_do(const Check& check) { return is_quick(check) || check.name == "a_body_of_100_MiB"; }

class TeamsOfThreads : public testing::TestWithParam<Check> {};
TEST_P(TeamsOfThreads, conform) {
  const Limits limits;
  EXPECT_EQ(GetParam().run(in_teams(mailbox_threads(limits.ring_bytes)), limits), "");
}
INSTANTIATE_TEST_SUITE_P(Checks, TeamsOfThreads, testing::ValuesIn(checks_that([](const Check& check) {
                           return threads_will_do(check) && teams_will_do(check);
                         })),
                         name_of);

class TeamsOfProcesses : public testing::TestWithParam<Check> {};
TEST_P(TeamsOfProcesses, conform) {
  const Limits limits;
  EXPECT_EQ(GetParam().run(in_teams(mailbox_processes(limits.ring_bytes)), limits), "");
}
INSTANTIATE_TEST_SUITE_P(Checks, TeamsOfProcesses, testing::ValuesIn(checks_that(teams_will_do)), name_of);

class TeamsBehindRelays : public testing::TestWithParam<Check> {};
TEST_P(TeamsBehindRelays, conform) {
  const auto& limits = relay_limits[0];
  for (const std::size_t levels : {1, 2})
    EXPECT_EQ(GetParam().run(in_teams(relayed_processes(limits.ring_bytes, levels)), limits), "");
}
INSTANTIATE_TEST_SUITE_P(Checks, TeamsBehindRelays, testing::ValuesIn(checks_that(is_quick)), name_of);

/// A frame that is missing is noticed at the deadline only.
Limits limits_with(Fault fault) { return {.deadline_s = fault == Fault::none ? 100.0 : 1.0}; }

/// The kit's first complaint about a transport with that fault, from the checks that are quick.
std::string complaint(Fault fault) {
  const auto limits = limits_with(fault);
  const auto start = broken(mailbox_processes(limits.ring_bytes), fault);
  for (const auto& check : checks_that(is_quick))
    if (auto wrong = check.run(start, limits); !wrong.empty()) return check.name + ": " + wrong;
  return {};
}

TEST(Kit, has_no_complaint_where_there_is_no_fault) { EXPECT_EQ(complaint(Fault::none), ""); }
TEST(Kit, notices_a_transport_that_drops) { EXPECT_NE(complaint(Fault::drop), ""); }
TEST(Kit, notices_a_transport_that_duplicates) { EXPECT_NE(complaint(Fault::duplicate), ""); }
TEST(Kit, notices_a_transport_that_reorders) { EXPECT_NE(complaint(Fault::reorder), ""); }
TEST(Kit, notices_a_transport_that_truncates) { EXPECT_NE(complaint(Fault::truncate), ""); }
TEST(Kit, notices_a_transport_that_alters_heads) { EXPECT_NE(complaint(Fault::alter_head), ""); }
TEST(Kit, notices_a_transport_that_loses_twice) { EXPECT_NE(complaint(Fault::lose_twice), ""); }
TEST(Kit, notices_a_transport_that_forgets_wakes) { EXPECT_NE(complaint(Fault::forget_wake), ""); }

TEST(Kit, notices_a_fault_behind_a_team) {
  for (const auto fault : {Fault::drop, Fault::alter_head, Fault::forget_wake}) {
    const auto limits = limits_with(fault);
    const auto start = in_teams(broken(mailbox_processes(limits.ring_bytes), fault));
    EXPECT_TRUE(std::ranges::any_of(checks_that(is_quick), [&](const Check& check) {
      return !check.run(start, limits).empty();
    })) << static_cast<int>(fault);
  }
}

/// 10⁶, or as CULMEN_TEST_HANDOFFS says.
std::uint64_t hand_offs() {
  const char* given = std::getenv("CULMEN_TEST_HANDOFFS");
  return given ? std::strtoull(given, nullptr, 10) : 1'000'000;
}

// No sleep has a time-out: a lost wake-up stops the run, and the watchdog says so.
constexpr Limits patient{.deadline_s = 3000};
TEST(HandOffs, none_is_lost_between_processes) {
  EXPECT_EQ(hand_off(mailbox_processes(32 * 1024), patient, hand_offs(), 1), "");
}
TEST(HandOffs, none_is_lost_behind_relays) {
  EXPECT_EQ(hand_off(relayed_processes(32 * 1024), patient, hand_offs() / 10, 1), "");
}
TEST(HandOffs, none_is_lost_behind_relays_of_relays) {
  EXPECT_EQ(hand_off(relayed_processes(32 * 1024, 2), patient, hand_offs() / 20, 1), "");
}
TEST(HandOffs, none_is_lost_between_threads) {
  EXPECT_EQ(hand_off(mailbox_threads(4096), patient, hand_offs() / 4, 2), "");
}

}  // namespace
}  // namespace culmen::conformance

int main(int argc, char** argv) {
  if (const int code = culmen::conformance::maybe_worker(argc, argv); code >= 0) return code;
  if (const int code = culmen::conformance::maybe_network_worker(argc, argv); code >= 0) return code;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
