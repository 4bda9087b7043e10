// The door: one side sleeps until another rings, across processes that may be killed between any two
// instructions.
//
// A door is two words: `bell` counts the rings, `sleeping` says that its owner is about to sleep. The owner reads the
// bell, checks everything that it waits for, and only then announces its sleep, checks the bell again and waits on it.
// The ringing side publishes its news, adds to the bell, then checks `sleeping` and wakes. The master has one door
// for all workers, with a bitmap that says who rang; every worker has one of its own.
//
// Each activity is a step machine: a step makes exactly one access to shared words and returns the next step. In
// production, run() executes the steps, and the compiler inlines them to straight code. A unit test explores every
// interleaving of the same machines, with a kill after any step.
#pragma once
#include "culmen/transport/mailbox/doorbell.hpp"

namespace culmen {

struct Door {
  Word* bell;
  Word* sleeping;
};

/// The words of one ring. `want_space` belongs to the producer: it waits for the consumer to move `head`.
struct RingWords {
  Word* tail;
  Word* head;
  Word* want_space;
};

using ReadyWord = std::atomic<std::uint64_t>;
static_assert(ReadyWord::is_always_lock_free);

/// The door to ring and, for the master's, the ringer's own bit in the bitmap (else null).
struct Bell {
  Door door;
  ReadyWord* ready = nullptr;
  std::uint64_t bit = 0;
};

struct Next {
  /// wake is also the end, like done.
  enum What : std::uint32_t { go_on, wait, wake, done } what;
  Word* word = nullptr;        ///< wait, wake: on this word
  std::uint32_t expected = 0;  ///< wait: while it holds this value
};

/// The rules of the protocol. A test breaks one at a time, and the exploration must find the lost wake-up.
struct DoorRules {
  static constexpr bool ring_always =
      true;  ///< not only when one's bit was clear: its setter may have been killed before ringing
  static constexpr bool look_without_take =
      true;  ///< `sleeping` is read, never exchanged: a process may be killed between taking it and waking
  static constexpr bool second_look = true;  ///< sleep only on the bell as it was before the first check
  static constexpr bool look_at_space_again = true;
};

/// Owner's side: sleeps unless the bell has changed since `seen`. May return early; the owner checks again.
template <class Rules = DoorRules>
class Sleep {
 public:
  Sleep(Door door, std::uint32_t seen) : door_(door), seen_(seen) {}
  Next step() {
    switch (at_) {
      case At::announce:
        door_.sleeping->store(1, std::memory_order_seq_cst);
        return then(At::look);
      case At::look: {
        const auto bell = door_.bell->load(std::memory_order_seq_cst);
        if constexpr (!Rules::second_look) seen_ = bell;
        at_ = At::retract;
        return bell == seen_ ? Next{Next::wait, door_.bell, seen_} : Next{Next::go_on};
      }
      case At::retract:
        break;
    }
    door_.sleeping->store(0, std::memory_order_relaxed);
    return {Next::done};
  }

 private:
  enum class At : std::uint32_t { announce, look, retract };
  Next then(At at) {
    at_ = at;
    return {Next::go_on};
  }
  Door door_;
  std::uint32_t seen_;
  At at_ = At::announce;
};

/// The other side: sets the bit, if there is one, rings, and wakes the owner if it sleeps. The news was
/// published before.
template <class Rules = DoorRules>
class Ring {
 public:
  explicit Ring(Bell bell) : bell_(bell), at_(bell.ready ? At::bit : At::add) {}
  Next step() {
    switch (at_) {
      case At::bit: {
        const auto before = bell_.ready->fetch_or(bell_.bit, std::memory_order_release);
        if (!Rules::ring_always && (before & bell_.bit)) return {Next::done};
        return then(At::add);
      }
      case At::add:
        bell_.door.bell->fetch_add(1, std::memory_order_seq_cst);
        return then(At::look);
      case At::look: {
        const bool sleeps = Rules::look_without_take ? bell_.door.sleeping->load(std::memory_order_seq_cst)
                                                     : bell_.door.sleeping->exchange(0, std::memory_order_seq_cst);
        return sleeps ? Next{Next::wake, bell_.door.bell} : Next{Next::done};
      }
    }
    __builtin_unreachable();
  }

 private:
  enum class At : std::uint64_t { bit, add, look };
  Next then(At at) {
    at_ = at;
    return {Next::go_on};
  }
  Bell bell_;
  At at_;
};

/// Consumer's side of a ring: returns the bytes before `head` to the producer, and rings if it waits for space.
template <class Rules = DoorRules>
class GiveSpace {
 public:
  GiveSpace(RingWords ring, std::uint32_t head, Bell producer) : ring_(ring), head_(head), bell_(producer) {}
  Next step() {
    switch (at_) {
      case At::give:
        ring_.head->store(head_, std::memory_order_seq_cst);
        at_ = At::look;
        return {Next::go_on};
      case At::look:
        if (!ring_.want_space->load(std::memory_order_seq_cst)) return {Next::done};
        at_ = At::ring;
        return {Next::go_on};
      case At::ring:
        break;
    }
    return bell_.step();
  }

 private:
  enum class At : std::uint32_t { give, look, ring };
  RingWords ring_;
  std::uint32_t head_;
  At at_ = At::give;
  Ring<Rules> bell_;
};

enum class Found : std::uint32_t { go_on, yes, no };

/// Checks whether the ring holds more than the record that ends at `head`, or the mailbox is closed.
class FrameLook {
 public:
  FrameLook(RingWords ring, std::uint32_t head, Word& closed) : tail_(ring.tail), closed_(&closed), head_(head) {}
  Found step() {
    if (at_ == At::tail) {
      at_ = At::closed;
      return tail_->load(std::memory_order_acquire) != head_ ? Found::yes : Found::go_on;
    }
    at_ = At::tail;
    return closed_->load(std::memory_order_seq_cst) ? Found::yes : Found::no;
  }

 private:
  enum class At : std::uint32_t { tail, closed };
  Word* tail_;
  Word* closed_;
  std::uint32_t head_;
  At at_ = At::tail;
};

/// Producer's side of a full ring: announces that it needs space, then checks again whether `bytes` fit, or the
/// mailbox is closed. An impossible head counts as found.
template <class Rules = DoorRules>
class SpaceLook {
 public:
  SpaceLook(RingWords ring, std::uint32_t tail, std::uint32_t size, std::uint32_t bytes, Word& closed)
      : ring_(ring), closed_(&closed), tail_(tail), size_(size), bytes_(bytes) {}
  Found step() {
    switch (at_) {
      case At::want:
        ring_.want_space->store(1, std::memory_order_seq_cst);
        at_ = Rules::look_at_space_again ? At::head : At::closed;
        return Found::go_on;
      case At::head: {
        const auto used = tail_ - ring_.head->load(std::memory_order_seq_cst);
        at_ = used > size_ || size_ - used >= bytes_ ? At::content : At::closed;
        return Found::go_on;
      }
      case At::closed:
        at_ = closed_->load(std::memory_order_seq_cst) ? At::content : At::want;
        return at_ == At::content ? Found::go_on : Found::no;
      case At::content:
        break;
    }
    ring_.want_space->store(0, std::memory_order_relaxed);
    return Found::yes;
  }

 private:
  enum class At : std::uint32_t { want, head, closed, content };
  RingWords ring_;
  Word* closed_;
  std::uint32_t tail_, size_, bytes_;
  At at_ = At::want;
};

/// Checks whether one of two flags is set.
class FlagLook {
 public:
  FlagLook(Word& one, Word& other) : flags_{&one, &other} {}
  Found step() {
    const auto set = flags_[at_]->load(std::memory_order_seq_cst);
    at_ = 1 - at_;
    return set ? Found::yes : at_ ? Found::go_on : Found::no;
  }

 private:
  Word* flags_[2];
  std::uint64_t at_ = 0;
};

/// Owner's side, whole: reads the bell, checks, and sleeps while the check finds nothing.
template <class Look, class Rules = DoorRules>
class Await {
 public:
  Await(Door door, Look look) : look_(look), door_(door), sleep_(door, 0) {}
  Next step() {
    switch (at_) {
      case At::bell:
        seen_ = door_.bell->load(std::memory_order_seq_cst);
        return then(At::look);
      case At::look: {
        const auto found = look_.step();
        if (found == Found::yes) return {Next::done};
        if (found == Found::go_on) return {Next::go_on};
        sleep_ = Sleep<Rules>(door_, seen_);
        return then(At::sleep);
      }
      case At::sleep:
        break;
    }
    const auto next = sleep_.step();
    return next.what == Next::done ? then(At::bell) : next;
  }

 private:
  enum class At : std::uint32_t { bell, look, sleep };
  Next then(At at) {
    at_ = at;
    return {Next::go_on};
  }
  Look look_;
  Door door_;
  Sleep<Rules> sleep_;
  std::uint32_t seen_ = 0;
  At at_ = At::bell;
};

/// Drives a machine to its end; sleeps at most at_most_s each time it waits.
template <class Machine>
inline void run(Machine machine, double at_most_s = forever_s) {
  for (;;) {
    const Next next = machine.step();
    if (next.what == Next::done) return;
    if (next.what == Next::wake) return futex_wake(*next.word);
    if (next.what == Next::wait) futex_wait(*next.word, next.expected, at_most_s);
  }
}

}  // namespace culmen
