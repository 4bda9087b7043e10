#include "conformance/transport/transport_conformance.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <fstream>
#include <future>
#include <limits>

#include "conformance/transport/audience.hpp"
#include "conformance/transport/play_worker.hpp"
#include "culmen/base/clock.hpp"

namespace culmen::conformance {

namespace {
constexpr std::size_t MiB = 1024 * 1024;
constexpr double forever_s = std::numeric_limits<double>::infinity();

/// A check at work: workers on stage, and the master's side of them.
struct Scene {
  Scene(const CastFactory& start, const Limits& given, std::size_t workers)
      : limits(given), cast(start(workers)), transport(cast->transport()), audience(workers) {}
  void ask(WorkerId worker, Play play, std::uint64_t number, BytesView body) {
    FrameHead head;
    head.study = static_cast<std::uint64_t>(play);
    head.evaluation = number;
    head.epoch = 0xfedcba98;
    head.attempt = static_cast<Attempt>(number * 3 + worker);
    head.kind = FrameKind::evaluate;
    head.may_hold = ~0u;
    transport.send(worker, head, body);
  }
  std::string wait(const std::function<bool()>& done) { return wait_until(transport, audience, limits, done); }
  std::string wait_arrivals(std::size_t n) {
    auto wrong = wait([&] { return audience.arrivals.size() >= n; });
    if (wrong.empty() && audience.arrivals.size() != n)
      wrong = fmt::format("{} frames expected, {} arrived", n, audience.arrivals.size());
    return wrong;
  }
  /// Nothing may come after the expected: one more round trip with each worker shows it.
  std::string nothing_more(std::initializer_list<WorkerId> workers) {
    const auto before = audience.arrivals.size();
    for (const auto worker : workers) ask(worker, Play::echo, 77, {});
    auto wrong = wait_arrivals(before + workers.size());
    for (auto i = before; wrong.empty() && i < audience.arrivals.size(); ++i)
      if (audience.arrivals[i].head.evaluation != 77)
        wrong = fmt::format("an unexpected frame of worker {} arrived", audience.arrivals[i].worker);
    return wrong;
  }

  Limits limits;
  std::unique_ptr<Cast> cast;
  Transport& transport;
  Audience audience;
};

std::string compare(const Arrival& arrival, WorkerId worker, std::uint64_t number, BytesView body) {
  const auto& head = arrival.head;
  if (head.evaluation != number)
    return fmt::format("worker {}: frame {} expected, {} arrived", worker, number, head.evaluation);
  if (head.epoch != 0xfedcba98 || head.attempt != number * 3 + worker || head.kind != FrameKind::evaluate ||
      head.may_hold != ~0u)
    return fmt::format("worker {}: the head of frame {} was altered", worker, number);
  if (arrival.body.size() != body.size())
    return fmt::format("worker {}: frame {} has {} bytes, not {}", worker, number, arrival.body.size(), body.size());
  if (!std::equal(body.begin(), body.end(), arrival.body.begin()))
    return fmt::format("worker {}: the {} bytes of frame {} were altered", worker, body.size(), number);
  return {};
}

std::string bodies_of_all_sizes(const CastFactory& start, const Limits& limits) {
  Scene scene(start, limits, 2);
  const auto ring = limits.ring_bytes;
  const std::size_t sizes[] = {
      0, 1, 7, 8, 512, ring / 4 - 8 - 32, ring / 4, ring / 2, ring - 1, ring, ring + 1, 3 * ring + 17, 0, 1};
  std::uint64_t number = 0;
  for (const auto size : sizes) {
    const auto body = body_of(number, size);
    for (const WorkerId worker : {0u, 1u}) scene.ask(worker, Play::echo, number, body);
    if (auto wrong = scene.wait_arrivals(2); !wrong.empty()) return fmt::format("{} bytes: {}", size, wrong);
    for (const auto& arrival : scene.audience.arrivals)
      if (auto wrong = compare(arrival, arrival.worker, number, body); !wrong.empty()) return wrong;
    scene.audience.arrivals.clear();
    ++number;
  }
  return scene.nothing_more({0, 1});
}

std::string a_body_of_100_MiB(const CastFactory& start, const Limits& limits) {
  Scene scene(start, limits, 1);
  const auto body = body_of(5, 100 * MiB);
  scene.ask(0, Play::echo, 5, body);
  if (auto wrong = scene.wait_arrivals(1); !wrong.empty()) return wrong;
  return compare(scene.audience.arrivals[0], 0, 5, body);
}

std::string both_ways_at_once(const CastFactory& start, const Limits& limits) {
  Scene scene(start, limits, 1);
  const auto body = body_of(6, 100 * MiB);
  scene.ask(0, Play::answer, 5, packed({100 * MiB}));
  scene.ask(0, Play::digest, 6, body);
  if (auto wrong = scene.wait_arrivals(2); !wrong.empty()) return wrong;
  if (auto wrong = compare(scene.audience.arrivals[0], 0, 5, body_of(5, 100 * MiB)); !wrong.empty()) return wrong;
  return compare(scene.audience.arrivals[1], 0, 6, packed({body.size(), sum_of(body)}));
}

/// False under a sanitizer: the system counts the sanitizer's own memory, too.
bool memory_can_be_judged() { return !dlsym(RTLD_DEFAULT, "__tsan_init") && !dlsym(RTLD_DEFAULT, "__asan_init"); }

/// Resident memory of this process that is its own, not shared.
std::size_t own_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kilobytes = 0;
    if (word == "RssAnon:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

std::string many_send_1_MiB_at_once(const CastFactory& start, const Limits& limits) {
  constexpr std::size_t workers = 100, rounds = 5;
  Scene scene(start, limits, workers);
  if (auto wrong = scene.wait([&] { return scene.audience.joined_count == workers; }); !wrong.empty()) return wrong;
  const auto before = own_bytes();
  std::size_t most = before, done = 0;
  std::string wrong;
  scene.audience.on_arrival = [&](WorkerId worker, const FrameHead& head, BytesView body) {
    const auto expected = body_of(head.evaluation, MiB);
    if (!std::equal(body.begin(), body.end(), expected.begin(), expected.end()))
      wrong = fmt::format("worker {}: a body was altered", worker);
    most = std::max(most, own_bytes());
    ++done;
  };
  for (std::size_t round = 0; round < rounds; ++round)
    for (WorkerId worker = 0; worker < workers; ++worker)
      scene.ask(worker, Play::answer, round * workers + worker, packed({MiB}));
  auto waited = scene.wait([&] { return done == workers * rounds || !wrong.empty(); });
  if (!waited.empty() || !wrong.empty()) return waited + wrong;
  // Per worker one frame in the making, in a buffer that doubles, and one that waits; where workers are threads, their
  // own frame too. Relays keep up to 16 MiB in each direction. Without a bound it would be all rounds.
  const auto allowed = workers * 3 * MiB + (scene.cast->has_processes() ? 0 : workers * 2 * MiB) + 96 * MiB;
  if (most - before > allowed && memory_can_be_judged())
    return fmt::format("memory grew by {} MiB, allowed are {}", (most - before) / MiB, allowed / MiB);
  return {};
}

/// Checks that what one worker floods is frame 0, 1, 2, … as made.
class FloodReader {
 public:
  explicit FloodReader(std::size_t most) : most_(most) {}
  void take(const FrameHead& head, BytesView body) {
    if (head.evaluation != next_) wrong = fmt::format("frame {} expected, {} arrived", next_, head.evaluation);
    const auto expected = body_of(next_, size_of(next_, most_));
    if (wrong.empty() && !std::equal(body.begin(), body.end(), expected.begin(), expected.end()))
      wrong = fmt::format("frame {} was altered", next_);
    ++next_;
  }
  std::uint64_t count() const { return next_; }
  std::string wrong;

 private:
  std::size_t most_;
  std::uint64_t next_ = 0;
};

std::string order_of_each_worker(const CastFactory& start, const Limits& limits) {
  constexpr std::size_t frames = 2000;
  Scene scene(start, limits, 3);
  const auto most = 3 * limits.ring_bytes;
  std::vector<FloodReader> readers(3, FloodReader(most));
  scene.audience.on_arrival = [&](WorkerId worker, const FrameHead& head, BytesView body) {
    readers[worker].take(head, body);
  };
  for (WorkerId worker = 0; worker < 3; ++worker) scene.ask(worker, Play::flood, 0, packed({frames, most}));
  const auto done = [&] {
    return std::all_of(readers.begin(), readers.end(),
                       [](const auto& r) { return !r.wrong.empty() || r.count() >= frames; });
  };
  auto wrong = scene.wait(done);
  for (const auto& reader : readers) wrong += reader.wrong;
  scene.audience.on_arrival = nullptr;
  return wrong.empty() ? scene.nothing_more({0, 1, 2}) : wrong;
}

std::string order_of_what_is_queued(const CastFactory& start, const Limits& limits) {
  constexpr std::size_t frames = 1000;
  Scene scene(start, limits, 1);
  for (std::uint64_t i = 0; i < frames; ++i) scene.ask(0, Play::echo, i, body_of(i, size_of(i, limits.ring_bytes)));
  if (auto wrong = scene.wait_arrivals(frames); !wrong.empty()) return wrong;
  for (std::uint64_t i = 0; i < frames; ++i)
    if (auto wrong = compare(scene.audience.arrivals[i], 0, i, body_of(i, size_of(i, limits.ring_bytes)));
        !wrong.empty())
      return wrong;
  return scene.nothing_more({0});
}

std::string a_flood_does_not_hold_the_master(const CastFactory& start, const Limits& limits) {
  Scene scene(start, limits, 2);
  std::uint64_t echoes = 0, flooded = 0;
  scene.audience.on_arrival = [&](WorkerId worker, const FrameHead&, BytesView) { ++(worker == 0 ? flooded : echoes); };
  if (auto wrong = scene.wait([&] { return scene.audience.joined_count == 2; }); !wrong.empty()) return wrong;
  scene.ask(0, Play::flood, 0, packed({std::uint64_t{1} << 60, 64}));
  for (std::uint64_t i = 1; i <= 200; ++i) {
    scene.ask(1, Play::echo, i, {});
    if (auto wrong = scene.wait([&] { return echoes == i; }); !wrong.empty())
      return fmt::format("echo {} beside a flood: {}", i, wrong);
  }
  const auto target = flooded + 1000;
  return scene.wait([&] { return flooded >= target; });
}

std::string a_killed_worker_is_lost_once_after_its_frames(const CastFactory& start, const Limits& limits) {
  constexpr std::size_t frames = 40;
  Scene scene(start, limits, 2);
  const auto most = 2 * limits.ring_bytes;
  FloodReader reader(most);
  std::uint64_t echoes = 0;
  scene.audience.on_arrival = [&](WorkerId worker, const FrameHead& head, BytesView body) {
    worker == 0 ? reader.take(head, body) : void(++echoes);
  };
  scene.ask(0, Play::die, 0, packed({frames, most}));
  if (auto wrong = scene.wait([&] { return scene.audience.lost_count > 0; }); !wrong.empty()) return wrong;
  if (!reader.wrong.empty()) return reader.wrong;
  if (reader.count() != frames)
    return fmt::format("a worker sent {} frames before it was killed, {} were delivered", frames, reader.count());
  for (int i = 0; i < 100; ++i) scene.ask(0, Play::echo, 0, body_of(1, limits.ring_bytes));
  for (std::uint64_t i = 1; i <= 100; ++i) {
    scene.ask(1, Play::echo, i, {});
    if (auto wrong = scene.wait([&] { return echoes == i; }); !wrong.empty())
      return fmt::format("after a worker was lost: {}", wrong);
  }
  return scene.audience.lost_count == 1 ? ""
                                        : fmt::format("{} workers lost, one was killed", scene.audience.lost_count);
}

std::string workers_killed_amid_a_flood_leave_only_whole_frames(const CastFactory& start, const Limits& limits) {
  constexpr std::size_t workers = 24;
  Scene scene(start, limits, workers);
  const auto most = 2 * limits.ring_bytes;
  std::vector<FloodReader> readers(workers, FloodReader(most));
  scene.audience.on_arrival = [&](WorkerId worker, const FrameHead& head, BytesView body) {
    readers[worker].take(head, body);
  };
  for (WorkerId worker = 0; worker < workers; ++worker)
    scene.ask(worker, Play::die_amid, 0, packed({most, worker * 997}));
  auto wrong = scene.wait([&] { return scene.audience.lost_count == workers; });
  std::uint64_t frames = 0;
  for (const auto& reader : readers) {
    wrong += reader.wrong;
    frames += reader.count();
  }
  return wrong.empty() && frames == 0 ? "workers flooded and nothing arrived" : wrong;
}

std::string a_worker_that_leaves_is_lost_once(const CastFactory& start, const Limits& limits) {
  Scene scene(start, limits, 2);
  scene.ask(0, Play::echo, 3, body_of(3, limits.ring_bytes + 5));
  scene.ask(0, Play::leave, 4, {});
  if (auto wrong = scene.wait([&] { return scene.audience.lost_count > 0; }); !wrong.empty()) return wrong;
  if (scene.audience.arrivals.size() != 1)
    return fmt::format("1 frame was sent before leaving, {} arrived", scene.audience.arrivals.size());
  scene.ask(0, Play::echo, 5, {});
  return scene.nothing_more({1});
}

std::string close_from_a_full_state(const CastFactory& start, const Limits& limits) {
  Scene scene(start, limits, 3);
  if (auto wrong = scene.wait([&] { return scene.audience.joined_count == 3; }); !wrong.empty()) return wrong;
  const auto queued = body_of(1, 10 * MiB);
  for (const WorkerId worker : {0u, 1u}) {
    scene.ask(worker, Play::flood, 0, packed({std::uint64_t{1} << 60, limits.ring_bytes}));
    scene.ask(worker, Play::digest, 1, queued);
  }
  std::uint64_t flooded = 0;
  scene.audience.on_arrival = [&](WorkerId, const FrameHead&, BytesView) { ++flooded; };
  if (auto wrong = scene.wait([&] { return flooded > 100; }); !wrong.empty()) return wrong;
  const SteadyClock clock;
  const auto before = clock.now_s();
  scene.transport.close(limits.deadline_s);
  const auto took_s = clock.now_s() - before;
  // A network gives up after 10 s: workers must have noticed before.
  if (took_s > std::min(limits.deadline_s / 2, 5.0)) return fmt::format("close took {} s", took_s);
  flooded = 0;
  scene.ask(2, Play::echo, 1, {});
  if (scene.transport.receive(scene.audience) || flooded) return "something arrived after close";
  return {};
}

std::string wake_ends_a_sleep(const CastFactory& start, const Limits& limits) {
  Scene scene(start, limits, 1);
  if (auto wrong = scene.wait([&] { return scene.audience.joined_count == 1; }); !wrong.empty()) return wrong;
  while (scene.transport.receive(scene.audience)) {
  }
  Watchdog watchdog(scene.transport, limits.deadline_s);
  for (int i = 0; i < 200 && !watchdog.expired(); ++i) {
    auto waker = std::async(std::launch::async, [&] { scene.transport.wake(); });
    scene.transport.sleep(forever_s);
    waker.get();
    scene.transport.sleep(0);  // takes a wake-up that came after the sleep had ended
    scene.transport.wake();
    scene.transport.receive(scene.audience);
    scene.transport.sleep(forever_s);
  }
  return watchdog.expired() ? "wake() did not end a sleep" : "";
}

std::string sleep_ends_in_time(const CastFactory& start, const Limits& limits) {
  Scene scene(start, limits, 1);
  if (auto wrong = scene.wait([&] { return scene.audience.joined_count == 1; }); !wrong.empty()) return wrong;
  while (scene.transport.receive(scene.audience)) {
  }
  scene.transport.sleep(0);
  const SteadyClock clock;
  const auto before = clock.now_s();
  for (int i = 0; i < 5; ++i) scene.transport.sleep(0.02);
  const auto took_s = clock.now_s() - before;
  return took_s > 0.05 && took_s < limits.deadline_s ? "" : fmt::format("5 sleeps of 0.02 s took {} s", took_s);
}
}  // namespace

const std::vector<Check>& checks() {
  static const std::vector<Check> all = {
      {"bodies_of_all_sizes", false, false, bodies_of_all_sizes},
      {"a_body_of_100_MiB", false, true, a_body_of_100_MiB},
      {"both_ways_at_once", false, true, both_ways_at_once},
      {"many_send_1_MiB_at_once", false, true, many_send_1_MiB_at_once},
      {"order_of_each_worker", false, false, order_of_each_worker},
      {"order_of_what_is_queued", false, false, order_of_what_is_queued},
      {"a_flood_does_not_hold_the_master", false, false, a_flood_does_not_hold_the_master},
      {"a_killed_worker_is_lost_once_after_its_frames", true, false, a_killed_worker_is_lost_once_after_its_frames},
      {"workers_killed_amid_a_flood_leave_only_whole_frames", true, false,
       workers_killed_amid_a_flood_leave_only_whole_frames},
      {"a_worker_that_leaves_is_lost_once", false, false, a_worker_that_leaves_is_lost_once},
      {"close_from_a_full_state", false, false, close_from_a_full_state},
      {"wake_ends_a_sleep", false, false, wake_ends_a_sleep},
      {"sleep_ends_in_time", false, false, sleep_ends_in_time},
  };
  return all;
}

std::string hand_off(const CastFactory& start, const Limits& limits, std::uint64_t times, std::size_t in_flight) {
  constexpr std::size_t workers = 2;
  Scene scene(start, limits, workers);
  std::uint64_t sent[workers] = {}, got[workers] = {}, open = 0;
  std::string wrong;
  const auto body = body_of(1, 64);
  const auto ask = [&](WorkerId worker) {
    scene.ask(worker, Play::echo, sent[worker]++, body);
    ++open;
  };
  scene.audience.on_arrival = [&](WorkerId worker, const FrameHead& head, BytesView echoed) {
    if (head.evaluation != got[worker]++ || !std::equal(body.begin(), body.end(), echoed.begin(), echoed.end()))
      wrong = fmt::format("worker {}: echo {} is wrong", worker, got[worker] - 1);
    --open;
    if (sent[0] + sent[1] < times) ask(worker);
  };
  for (std::size_t i = 0; i < in_flight; ++i)
    for (WorkerId worker = 0; worker < workers; ++worker) ask(worker);
  const auto waited = scene.wait([&] { return open == 0 || !wrong.empty(); });
  return waited + wrong;
}

}  // namespace culmen::conformance
