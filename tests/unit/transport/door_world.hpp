// A model of the mailbox for exhaustive exploration: a master, two workers and the watcher, each driving the production
// step machines, one access to shared words at a time.
#pragma once
#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

#include "culmen/transport/mailbox/door.hpp"

namespace culmen::door_model {

inline constexpr std::uint32_t workers = 2;  ///< at most; a scenario may have fewer

struct Scenario {
  std::uint32_t items = 2;  ///< per worker
  std::uint32_t workers = door_model::workers;
  std::uint32_t capacity = 2;  ///< of each ring, in items
  bool request = false;        ///< the master sends the items to the workers
  bool answer = true;          ///< a worker sends its items to the master: in answer to requests, or unasked
  bool close = false;          ///< the master does nothing but close
  bool leave = false;          ///< a worker leaves after its last item
  bool kill = false;           ///< one worker may be killed between any two steps
};

struct SharedWorker {
  Word out_tail, out_wants_space, in_head, sleeping, left;
  Word in_tail, in_wants_space, out_head, bell, dead;
};

struct Shared {
  ReadyWord ready, deaths;
  Word bell, sleeping, closed, padding;
  SharedWorker worker[workers];
};

enum class Status : std::uint32_t { absent, running, waiting, waking, asleep, finished, killed };

/// One thread of execution, as plain bytes.
struct Actor {
  Status status = Status::absent;
  std::uint32_t pc = 0;
  std::uint32_t word = 0;  ///< waiting, waking, asleep: offset in Shared
  std::uint32_t expected = 0;
  std::uint32_t seen = 0, bits = 0, found = 0, who = 0;
  std::array<std::uint32_t, workers> sent{}, taken{}, lost{}, dead{};
  std::array<std::uint64_t, 12> machine{};

  template <class Machine>
  void start(Machine fresh) {
    static_assert(sizeof(Machine) <= sizeof machine && std::is_trivially_copyable_v<Machine>);
    static_assert(std::has_unique_object_representations_v<Machine>, "padding would hide equal states");
    machine.fill(0);
    std::memcpy(machine.data(), &fresh, sizeof fresh);
  }
};

/// Everything that a state consists of.
struct State {
  std::array<std::uint64_t, sizeof(Shared) / 8> shared{};
  std::array<Actor, workers + 2> actors{};  ///< master, workers, watcher
  std::uint32_t kills_left = 0, padding = 0;
};
static_assert(std::has_unique_object_representations_v<State>);

inline constexpr std::size_t master = 0, watcher = workers + 1;

/// Makes steps on the one set of real atomics that the machines point to.
template <class Rules>
class World {
 public:
  explicit World(const Scenario& scenario) : scenario_(scenario) {}

  State initial() const {
    State state;
    for (std::size_t i = 0; i <= scenario_.workers; ++i) state.actors[i].status = Status::running;
    state.kills_left = scenario_.kill;
    // As if both had joined just now: the master looks at them and sends its requests.
    if (scenario_.request && !scenario_.close)
      state.shared[offsetof(Shared, ready) / 8] = (1u << scenario_.workers) - 1;
    return state;
  }

  static bool enabled(const State& state, std::size_t who) {
    const auto status = state.actors[who].status;
    return status == Status::running || status == Status::waiting || status == Status::waking;
  }

  /// One access to shared words, or one system call, by actor `who`.
  void step(State& state, std::size_t who) {
    load(state);
    auto& actor = state.actors[who];
    if (actor.status == Status::waiting) {
      actor.status = word_at(actor.word).load() == actor.expected ? Status::asleep : Status::running;
    } else if (actor.status == Status::waking) {
      for (auto& other : state.actors)
        if (other.status == Status::asleep && other.word == actor.word) other.status = Status::running;
      actor.status = actor.pc == finish ? Status::finished : Status::running;
    } else if (who == master) {
      scenario_.close ? step_closing_master(actor) : step_master(actor);
    } else if (who == watcher) {
      step_watcher(actor);
    } else {
      step_worker(actor, static_cast<std::uint32_t>(who - 1));
    }
    save(state);
  }

  static bool can_be_killed(const State& state, std::size_t who) {
    const auto status = state.actors[who].status;
    return state.kills_left > 0 && who != master && who != watcher && status != Status::killed &&
           status != Status::absent;
  }
  static void kill(State& state, std::size_t who) {
    state.kills_left = 0;
    state.actors[who] = Actor{};
    state.actors[who].status = Status::killed;
    state.actors[watcher].status = Status::running;
    state.actors[watcher].who = static_cast<std::uint32_t>(who - 1);
  }

  /// When nobody can continue: null if all is well, else the error.
  const char* verdict(const State& state) {
    load(state);
    for (std::uint32_t w = 0; w < scenario_.workers; ++w) {
      const auto status = status_of(state, w);
      if (status != Status::finished && status != Status::killed) return "a live worker sleeps for ever";
    }
    const auto& a = state.actors[master];
    if (scenario_.close) return a.status == Status::finished ? nullptr : "the closing master sleeps for ever";
    for (std::uint32_t w = 0; w < scenario_.workers; ++w) {
      if (a.taken[w] != shared_.worker[w].out_tail.load()) return "the master sleeps and an item is there";
      if (!a.lost[w] && (status_of(state, w) == Status::killed || scenario_.leave))
        return "the master sleeps and was not told that a worker is gone";
      if (status_of(state, w) == Status::finished && a.taken[w] != scenario_.items * scenario_.answer)
        return "an item is missing";
    }
    return nullptr;
  }

 private:
  enum : std::uint32_t {  // where an actor is in its program
    begin,
    ready,
    deaths,
    choose,
    dead,
    left,
    look_out,
    give_out,
    look_in,
    ring_worker,
    want_in,
    master_sleep,
    receive,
    await_frame,
    give_in,
    before_send,
    send,
    await_space,
    ring_master,
    leave,
    ring_leave,
    close_ring,
    close_scan,
    finish
  };

  static Status status_of(const State& state, std::uint32_t w) { return state.actors[w + 1].status; }
  void load(const State& state) { std::memcpy(static_cast<void*>(&shared_), state.shared.data(), sizeof shared_); }
  void save(State& state) const {
    std::memcpy(state.shared.data(), static_cast<const void*>(&shared_), sizeof shared_);
  }
  Word& word_at(std::uint32_t offset) {
    return *reinterpret_cast<Word*>(reinterpret_cast<std::byte*>(&shared_) + offset);
  }
  std::uint32_t offset_of(const Word* word) const {
    return static_cast<std::uint32_t>(reinterpret_cast<const std::byte*>(word) -
                                      reinterpret_cast<const std::byte*>(&shared_));
  }
  Door masters_door() { return {&shared_.bell, &shared_.sleeping}; }
  Door workers_door(std::uint32_t w) { return {&shared_.worker[w].bell, &shared_.worker[w].sleeping}; }
  Bell masters_bell(std::uint32_t w) { return {masters_door(), &shared_.ready, 1u << w}; }
  RingWords in(std::uint32_t w) {
    auto& s = shared_.worker[w];
    return {&s.in_tail, &s.in_head, &s.in_wants_space};
  }
  RingWords out(std::uint32_t w) {
    auto& s = shared_.worker[w];
    return {&s.out_tail, &s.out_head, &s.out_wants_space};
  }

  /// One step of the machine that the actor is in; true when that was its last.
  template <class Machine>
  bool drive(Actor& actor) {
    auto& machine = *std::launder(reinterpret_cast<Machine*>(actor.machine.data()));
    const Next next = machine.step();
    actor.word = next.word ? offset_of(next.word) : 0;
    actor.expected = next.expected;
    if (next.what == Next::wait) actor.status = Status::waiting;
    if (next.what == Next::wake) actor.status = Status::waking;
    return next.what == Next::done || next.what == Next::wake;
  }
  template <class Machine>
  void drive_then(Actor& actor, std::uint32_t pc) {
    if (drive<Machine>(actor)) go(actor, pc);
  }
  static void go(Actor& actor, std::uint32_t pc) {
    actor.pc = pc;
    actor.machine.fill(0);
  }
  template <class Machine>
  static void start(Actor& actor, std::uint32_t pc, Machine machine) {
    actor.pc = pc;
    actor.start(machine);
  }

  // The engine's loop: receive() while it finds something, else sleep().
  void step_master(Actor& a) {
    auto& s = shared_.worker[a.who];
    switch (a.pc) {
      case begin:
        a.seen = shared_.bell.load();
        a.found = 0;
        return go(a, ready);
      case ready:
        a.bits = static_cast<std::uint32_t>(shared_.ready.exchange(0));
        return go(a, deaths);
      case deaths:
        a.bits |= static_cast<std::uint32_t>(shared_.deaths.exchange(0));
        return choose_worker(a);
      case dead:
        a.dead[a.who] = s.dead.load();
        return go(a, left);
      case left:
        a.dead[a.who] |= s.left.load();
        return go(a, look_out);
      case look_out:
        return look_at_results(a, s.out_tail.load());
      case give_out:
        return drive_then<GiveSpace<Rules>>(a, look_in);
      case look_in:
        return send_requests(a);
      case ring_worker:
        return drive_then<Ring<Rules>>(a, look_in);
      case want_in:
        return want_space(a);
      case master_sleep:
        return drive_then<Sleep<Rules>>(a, begin);
    }
  }
  void choose_worker(Actor& a) {
    if (a.bits == 0) {
      a.who = 0;
      if (a.found) return go(a, begin);
      const auto seen = a.seen;
      a.seen = 0;
      return start(a, master_sleep, Sleep<Rules>(masters_door(), seen));
    }
    a.who = a.bits & 1 ? 0 : 1;
    a.bits &= a.bits - 1;
    if (a.lost[a.who]) return choose_worker(a);
    go(a, dead);
  }
  void look_at_results(Actor& a, std::uint32_t tail) {
    if (tail == a.taken[a.who]) return go(a, look_in);
    a.found = 1;
    a.taken[a.who] = tail;
    start(a, give_out, GiveSpace<Rules>(out(a.who), tail, {workers_door(a.who)}));
  }
  void send_requests(Actor& a) {
    if (!scenario_.request || a.sent[a.who] == scenario_.items) return end_visit(a);
    auto& s = shared_.worker[a.who];
    if (a.found < 2 && a.sent[a.who] - s.in_head.load() >= scenario_.capacity)
      return start(a, want_in, SpaceLook<Rules>(in(a.who), a.sent[a.who], scenario_.capacity, 1, shared_.closed));
    // The look at the head was this step's access; the next visit of this place publishes.
    if (a.found < 2) {
      a.found += 2;
      return;
    }
    a.found -= 2;
    s.in_tail.store(++a.sent[a.who]);
    start(a, ring_worker, Ring<Rules>({workers_door(a.who)}));
  }
  void want_space(Actor& a) {
    const auto found = std::launder(reinterpret_cast<SpaceLook<Rules>*>(a.machine.data()))->step();
    if (found == Found::yes) return go(a, look_in);
    if (found == Found::no) end_visit(a);
  }
  void end_visit(Actor& a) {
    if (a.dead[a.who]) a.lost[a.who] = a.found = 1;
    choose_worker(a);
  }

  void step_closing_master(Actor& a) {
    switch (a.pc) {
      case begin:
        shared_.closed.store(1);
        return start(a, close_ring, Ring<Rules>({workers_door(0)}));
      case close_ring:
        if (!drive<Ring<Rules>>(a)) return;
        if (++a.who == scenario_.workers) return go(a, ready);
        return start(a, close_ring, Ring<Rules>({workers_door(a.who)}));
      case ready:
        a.seen = shared_.bell.load();
        a.who = a.found = 0;
        return go(a, close_scan);
      case close_scan: {
        // Whether a worker remains is two loads; left and dead are never taken back, so that one look at both is the
        // same.
        auto& s = shared_.worker[a.who];
        a.found |= !s.left.load() && !s.dead.load();
        if (++a.who < scenario_.workers) return;
        if (a.found) return start(a, master_sleep, Sleep<Rules>(masters_door(), a.seen));
        a.status = Status::finished;
        return;
      }
      case master_sleep:
        return drive_then<Sleep<Rules>>(a, ready);
    }
  }

  void step_worker(Actor& a, std::uint32_t w) {
    auto& s = shared_.worker[w];
    const bool sends = scenario_.close ? !scenario_.request && a.sent[0] < scenario_.items : !scenario_.request;
    if (!scenario_.close && a.pc == begin) a.pc = sends ? send : receive;
    if (!scenario_.close && a.pc == before_send) a.pc = send;
    switch (a.pc) {
      case begin:
        return go(a, shared_.closed.load() ? leave : sends ? send : receive);
      case receive:
        if (s.in_tail.load() == a.taken[0])
          return start(a, await_frame,
                       Await<FrameLook, Rules>(workers_door(w), FrameLook(in(w), a.taken[0], shared_.closed)));
        return start(a, give_in, GiveSpace<Rules>(in(w), ++a.taken[0], masters_bell(w)));
      case await_frame:
        return drive_then<Await<FrameLook, Rules>>(a, begin);
      case give_in:
        if (!drive<GiveSpace<Rules>>(a)) return;
        return scenario_.answer ? go(a, before_send) : end_item(a);
      case before_send:
        return go(a, shared_.closed.load() ? leave : send);
      case send:
        return send_result(a, w);
      case await_space:
        return drive_then<Await<SpaceLook<Rules>, Rules>>(a, before_send);
      case ring_master:
        if (drive<Ring<Rules>>(a)) end_item(a);
        return;
      case leave:
        s.left.store(1);
        return start(a, ring_leave, Ring<Rules>(masters_bell(w)));
      case ring_leave:
        if (drive<Ring<Rules>>(a)) end(a);
        return;
    }
  }
  void send_result(Actor& a, std::uint32_t w) {
    auto& s = shared_.worker[w];
    if (!a.found) {
      a.found = a.sent[0] - s.out_head.load() < scenario_.capacity;
      if (a.found) return;
      const SpaceLook<Rules> look(out(w), a.sent[0], scenario_.capacity, 1, shared_.closed);
      return start(a, await_space, Await<SpaceLook<Rules>, Rules>(workers_door(w), look));
    }
    a.found = 0;
    s.out_tail.store(++a.sent[0]);
    start(a, ring_master, Ring<Rules>(masters_bell(w)));
  }

  void end_item(Actor& a) {
    const auto done = scenario_.answer ? a.sent[0] : a.taken[0];
    if (done < scenario_.items || scenario_.close) return go(a, begin);
    scenario_.leave ? go(a, leave) : end(a);
  }
  /// An actor whose last act was a wake finishes with it.
  static void end(Actor& a) { a.status == Status::waking ? go(a, finish) : void(a.status = Status::finished); }

  void step_watcher(Actor& a) {
    switch (a.pc) {
      case begin:
        shared_.worker[a.who].dead.store(1);
        return go(a, deaths);
      case deaths:
        shared_.deaths.fetch_or(1u << a.who);
        return start(a, ring_master, Ring<Rules>(masters_bell(a.who)));
      case ring_master:
        if (drive<Ring<Rules>>(a)) end(a);
        return;
    }
  }

  Scenario scenario_;
  Shared shared_{};
};

}  // namespace culmen::door_model
