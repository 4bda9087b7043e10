#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <thread>

#include "culmen/base/clock.hpp"
#include "culmen/base/error.hpp"
#include "culmen/base/random.hpp"
#include "culmen/transport/mailbox/layout.hpp"
#include "ring_fixture.hpp"

namespace culmen {
namespace {

constexpr double forever_s = std::numeric_limits<double>::infinity();

struct Record final : Transport::Sink {
  void joined(WorkerId worker) override { events.push_back("joined " + std::to_string(worker)); }
  void arrived(WorkerId worker, const FrameHead&, BytesView) override {
    events.push_back("arrived " + std::to_string(worker));
  }
  void lost(WorkerId, const std::string& why) override { events.push_back(why); }
  std::vector<std::string> events;
};

/// Receives until this number of events is there; the test's time limit is the deadline.
void receive_until(Transport& transport, Record& record, std::size_t events) {
  while (record.events.size() < events)
    if (!transport.receive(record)) transport.sleep(forever_s);
}

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

pid_t start(std::vector<std::string> command) {
  SpawnRequest request;
  request.command = std::move(command);
  return spawn(request);
}

TEST(MailboxMemory, refuses_sizes_that_it_cannot_have) {
  for (const MailboxOptions options : {MailboxOptions{0, 4096}, {1, 4095}, {1, 5000}, {1, 2048}, {100000, 4096}}) {
    const auto said = message_of([&] { MailboxMemory::create(options); });
    EXPECT_NE(said.find(std::to_string(options.ring_bytes)), std::string::npos) << said;
    EXPECT_NE(said.find("4096"), std::string::npos) << said;
  }
}

TEST(MailboxMemory, says_what_it_wanted_and_what_is_free_when_there_is_no_space) {
  const auto said = message_of([] { MailboxMemory::create_named({.workers = 60000, .ring_bytes = 1 << 28}); });
  for (const char* part : {"32212", "/dev/shm", "free", "fewer workers than 60000", "mount option size=", "--shm-size"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
  EXPECT_EQ(said.find("ring"), std::string::npos) << "no option sets rings: " << said;
}

TEST(MailboxMemory, is_found_by_name_until_unlinked) {
  const auto memory = MailboxMemory::create_named({.workers = 3, .ring_bytes = 4096});
  const auto name = memory->name();
  EXPECT_EQ(name.find("/culmen." + std::to_string(getpid()) + "."), 0u);
  const auto attached = MailboxMemory::attach(name);
  EXPECT_EQ(attached->workers(), 3u);
  EXPECT_EQ(attached->fd(), -1);
  memory->unlink();
  memory->unlink();
  EXPECT_NE(message_of([&] { MailboxMemory::attach(name); }).find(name), std::string::npos);
}

TEST(MailboxMemory, leaves_no_name_behind_without_unlink) {
  const auto name = MailboxMemory::create_named({.workers = 1, .ring_bytes = 4096})->name();
  EXPECT_NE(message_of([&] { MailboxMemory::attach(name); }), "");
}

TEST(MailboxMemory, refuses_what_is_no_mailbox_or_of_another_version_or_damaged) {
  const auto memory = MailboxMemory::create({.workers = 2, .ring_bytes = 4096});
  auto& hub = memory->layout().hub();
  const auto said = [&] { return message_of([&] { MailboxMemory::attach(memory->fd()); }); };
  EXPECT_EQ(said(), "");
  hub.version = 99;
  EXPECT_NE(said().find("the same version"), std::string::npos) << said();
  hub.version = MailboxMemory::Layout::version;
  hub.workers = 3;
  EXPECT_NE(said().find("sizes"), std::string::npos) << said();
  hub.magic = 7;
  EXPECT_NE(said().find("not a mailbox"), std::string::npos) << said();
  EXPECT_NE(message_of([] { MailboxMemory::attach(-1); }), "");
}

TEST(Mailbox, a_box_is_used_once) {
  const auto memory = MailboxMemory::create({.workers = 2, .ring_bytes = 4096});
  { MailboxEndpoint endpoint(memory, 1); }
  EXPECT_NE(message_of([&] { MailboxEndpoint again(memory, 1); }).find("joined before"), std::string::npos);
  EXPECT_NE(message_of([&] { MailboxEndpoint beyond(memory, 2); }).find("0 to 1"), std::string::npos);
}

TEST(Mailbox, a_worker_joins_sends_and_leaves_in_that_order) {
  const auto memory = MailboxMemory::create({.workers = 2, .ring_bytes = 4096});
  MailboxTransport transport(memory);
  {
    MailboxEndpoint endpoint(memory, 1);
    EXPECT_TRUE(endpoint.send({}, pattern(10, 1)));
  }
  Record record;
  receive_until(transport, record, 3);
  EXPECT_EQ(record.events, (std::vector<std::string>{"joined 1", "arrived 1", "worker 1 left"}));
}

TEST(Mailbox, says_how_a_process_of_ours_ended) {
  const auto memory = MailboxMemory::create({.workers = 2, .ring_bytes = 4096});
  MailboxTransport transport(memory);
  const pid_t killed = start({"sleep", "1000"}), ended = start({"sh", "-c", "exit 3"});
  transport.watch(0, identify(killed), true);
  Record record;
  kill(killed, SIGKILL);
  receive_until(transport, record, 1);
  EXPECT_EQ(record.events.back(), "worker 0 (process " + std::to_string(killed) + ") died by signal 9");
  transport.watch(1, identify(ended), true);
  receive_until(transport, record, 2);
  EXPECT_EQ(record.events.back(), "worker 1 (process " + std::to_string(ended) + ") ended with exit code 3");
}

TEST(Mailbox, notices_the_death_of_a_process_that_is_not_ours) {
  const auto memory = MailboxMemory::create({.workers = 1, .ring_bytes = 4096});
  MailboxTransport transport(memory);
  const pid_t process = start({"sleep", "1000"});
  transport.watch(0, identify(process), false);
  kill(process, SIGTERM);
  Record record;
  receive_until(transport, record, 1);
  EXPECT_EQ(record.events.back(), "worker 0 (process " + std::to_string(process) + ") died");
  reap(process);
}

TEST(Mailbox, close_kills_and_reaps_what_does_not_leave) {
  const auto memory = MailboxMemory::create({.workers = 1, .ring_bytes = 4096});
  MailboxTransport transport(memory);
  const auto process = identify(start({"sleep", "1000"}));
  transport.watch(0, process, true);
  const SteadyClock clock;
  const auto before = clock.now_s();
  transport.close(0.05);
  EXPECT_GE(clock.now_s() - before, 0.05);
  EXPECT_FALSE(alive(process));
  EXPECT_EQ(identify(process.pid).start_ticks, 0u) << "it was not reaped";
}

TEST(Mailbox, close_wakes_who_receives_and_who_waits_for_it) {
  const auto memory = MailboxMemory::create({.workers = 1, .ring_bytes = 4096});
  MailboxTransport transport(memory);
  MailboxEndpoint endpoint(memory, 0);
  std::thread waiter([&] { endpoint.wait_closed(); });
  std::thread closer([&] { transport.close(0.05); });
  FrameHead head;
  Bytes body;
  EXPECT_FALSE(endpoint.receive(head, body));
  EXPECT_FALSE(endpoint.send(head, body));
  EXPECT_TRUE(endpoint.closed());
  waiter.join();
  closer.join();
}

TEST(Mailbox, release_ends_wait_closed) {
  const auto memory = MailboxMemory::create({.workers = 1, .ring_bytes = 4096});
  MailboxEndpoint endpoint(memory, 0);
  std::thread waiter([&] { endpoint.wait_closed(); });
  endpoint.release();
  waiter.join();
  endpoint.wait_closed();
  EXPECT_FALSE(endpoint.closed());
}

TEST(Mailbox, queues_what_a_ring_does_not_take_and_drops_it_with_the_worker) {
  const auto memory = MailboxMemory::create({.workers = 1, .ring_bytes = 4096});
  MailboxTransport transport(memory);
  Record record;
  {
    MailboxEndpoint endpoint(memory, 0);
    for (int i = 0; i < 10; ++i) transport.send(0, {}, pattern(4000, 1));
    EXPECT_GT(transport.queued_bytes(), 30000u);
    EXPECT_LT(transport.queued_bytes(), 41000u);
    FrameHead head;
    Bytes body;
    EXPECT_TRUE(transport.receive(record));
    EXPECT_TRUE(endpoint.receive(head, body));
    EXPECT_EQ(body, pattern(4000, 1));
  }
  receive_until(transport, record, 2);
  EXPECT_EQ(transport.queued_bytes(), 0u);
  transport.send(0, {}, pattern(4000, 1));
  EXPECT_EQ(transport.queued_bytes(), 0u);
}

TEST(Mailbox, an_idle_master_and_an_idle_worker_use_no_processor_time) {
  const auto memory = MailboxMemory::create({.workers = 1, .ring_bytes = 4096});
  MailboxTransport transport(memory);
  std::thread worker([memory] {
    MailboxEndpoint endpoint(memory, 0);
    FrameHead head;
    Bytes body;
    while (endpoint.receive(head, body)) {
    }
  });
  Record record;
  receive_until(transport, record, 1);
  while (transport.receive(record)) {
  }
  const auto switches = [] {
    rusage used;
    getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
  };
  clockid_t clock;
  ASSERT_EQ(pthread_getcpuclockid(worker.native_handle(), &clock), 0);
  const auto used_ns = [clock] {
    timespec used;
    clock_gettime(clock, &used);
    return used.tv_sec * 1'000'000'000 + used.tv_nsec;
  };
  const auto switches_before = switches();
  const auto used_before_ns = used_ns();
  transport.sleep(0.5);
  EXPECT_LE(switches() - switches_before, 3) << "the master polls";
  EXPECT_LE(used_ns() - used_before_ns, 200'000) << "the worker polls";
  transport.close(10);
  worker.join();
}

/// Damage of every kind, while the master continues. The master may read wrong bytes, but it stays whole and loses each
/// worker at most once.
TEST(Mailbox, random_damage_costs_a_worker_never_the_master) {
  std::size_t lost = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const auto memory = MailboxMemory::create({.workers = 2, .ring_bytes = 4096});
    auto& layout = memory->layout();
    MailboxTransport transport(memory);
    MailboxEndpoint one(memory, 0), other(memory, 1);
    Record record;
    const auto boxes = reinterpret_cast<std::byte*>(&layout.box(0));
    const auto box_bytes = static_cast<std::size_t>(reinterpret_cast<std::byte*>(&layout.box(1)) - boxes);
    for (int round = 0; round < 20; ++round) {
      transport.send(0, {}, pattern(random.below(3000), 1));
      const auto value = static_cast<std::uint32_t>(random.next());
      const auto place = random.below(3) == 0 ? random.below(box_bytes) : random.below(sizeof(Box));
      std::memcpy(boxes + place / 4 * 4, &value, 4);
      layout.ready(0).fetch_or(random.next());
      transport.receive(record);
    }
    EXPECT_TRUE(other.send({}, pattern(100, 2)));
    transport.receive(record);
    EXPECT_NE(std::find(record.events.begin(), record.events.end(), "arrived 1"), record.events.end());
    lost += static_cast<std::size_t>(
        std::count(record.events.begin(), record.events.end(), "worker 0: its mailbox is damaged"));
    layout.hub().closed.store(1);
  }
  EXPECT_GT(lost, 100u);
}

TEST(Mailbox, damage_found_while_sending_is_reported_though_the_worker_never_rings) {
  const auto memory = MailboxMemory::create({.workers = 1, .ring_bytes = 4096});
  MailboxTransport transport(memory);
  memory->layout().box(0).worker.in_head.store(1u << 30);
  for (int i = 0; i < 10; ++i) transport.send(0, {}, pattern(900, 1));
  Record record;
  receive_until(transport, record, 1);
  EXPECT_EQ(record.events, std::vector<std::string>{"worker 0: its mailbox is damaged"});
}

TEST(Mailbox, what_a_sink_sent_before_it_threw_reaches_the_worker) {
  struct Thrower final : Transport::Sink {
    explicit Thrower(Transport& given) : transport(given) {}
    void joined(WorkerId worker) override {
      transport.send(worker, {}, pattern(10, 1));
      throw Error("enough");
    }
    void arrived(WorkerId, const FrameHead&, BytesView) override {}
    void lost(WorkerId, const std::string&) override {}
    Transport& transport;
  };
  const auto memory = MailboxMemory::create({.workers = 1, .ring_bytes = 4096});
  MailboxTransport transport(memory);
  std::thread worker([memory] {
    MailboxEndpoint endpoint(memory, 0);
    FrameHead head;
    Bytes body;
    EXPECT_TRUE(endpoint.receive(head, body));
  });
  Thrower thrower(transport);
  EXPECT_EQ(message_of([&] {
              while (!transport.receive(thrower)) transport.sleep(forever_s);
            }),
            "enough");
  Record record;
  receive_until(transport, record, 1);
  EXPECT_EQ(record.events, std::vector<std::string>{"worker 0 left"});
  worker.join();
}

TEST(Mailbox, a_worker_says_that_its_mailbox_is_damaged) {
  const auto memory = MailboxMemory::create({.workers = 1, .ring_bytes = 4096});
  MailboxEndpoint endpoint(memory, 0);
  memory->layout().box(0).master.in_tail.store(13);
  FrameHead head;
  Bytes body;
  EXPECT_EQ(message_of([&] { endpoint.receive(head, body); }), "worker 0: its mailbox is damaged");
}

TEST(MailboxEndpoint, tries_without_sleeping_and_takes_whole_frames_only) {
  const auto memory = MailboxMemory::create({.workers = 1, .ring_bytes = 4096});
  MailboxTransport transport(memory);
  MailboxEndpoint endpoint(memory, 0);
  Record record;
  receive_until(transport, record, 1);
  FrameHead head;
  Bytes body;
  EXPECT_FALSE(endpoint.try_receive(head, body));
  for (const std::size_t size : {8u, 16u}) transport.send(0, {}, Bytes(size));
  ASSERT_TRUE(endpoint.try_receive(head, body));
  EXPECT_EQ(body.size(), 8u);
  ASSERT_TRUE(endpoint.try_receive(head, body));
  EXPECT_EQ(body.size(), 16u);
  EXPECT_FALSE(endpoint.try_receive(head, body));
  transport.send(0, {}, Bytes(10'000));
  while (!endpoint.try_receive(head, body)) transport.receive(record);
  EXPECT_EQ(body.size(), 10'000u) << "of several portions";
  transport.send(0, {}, Bytes(8));
  transport.close(0);
  EXPECT_FALSE(endpoint.try_receive(head, body));
}

TEST(MailboxTransport, does_not_take_a_worker_that_joins_after_its_end_for_one_that_stays) {
  const auto memory = MailboxMemory::create({.workers = 2});
  MailboxTransport transport(memory);
  MailboxEndpoint stays(memory, 0);
  transport.close(0);
  MailboxEndpoint late(memory, 1);
  EXPECT_EQ(transport.remaining(), 1U);
  FrameHead head;
  Bytes body;
  EXPECT_FALSE(late.receive(head, body));
}

}  // namespace
}  // namespace culmen
