#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "culmen/base/random.hpp"
#include "ring_fixture.hpp"

namespace culmen {
namespace {

constexpr std::uint32_t ring_bytes = 4096;

/// Takes what is there; returns the whole frames.
std::vector<std::pair<FrameHead, Bytes>> take_all(FrameReader& reader) {
  std::vector<std::pair<FrameHead, Bytes>> frames;
  FrameHead head;
  BytesView body;
  reader.refresh();
  for (;;) {
    const auto result = reader.next(head, body);
    EXPECT_NE(result, FrameReader::Result::damaged);
    if (result == FrameReader::Result::nothing || result == FrameReader::Result::damaged) return frames;
    if (result == FrameReader::Result::frame) frames.emplace_back(head, Bytes(body.begin(), body.end()));
    reader.pop();
  }
}

TEST(Ring, frames_of_all_sizes_arrive_whole_and_in_order) {
  RingMemory memory(ring_bytes);
  FrameWriter writer(memory.view());
  FrameReader reader(memory.view());
  std::uint64_t number = 0;
  for (std::size_t bytes = 0; bytes < 3 * ring_bytes; bytes += bytes < 70 ? 1 : 61) {
    const auto body = pattern(bytes, number);
    std::size_t written = 0;
    std::vector<std::pair<FrameHead, Bytes>> frames;
    while (frames.empty()) {
      ASSERT_NE(writer.write(numbered(number), body, written), FrameWriter::Result::damaged);
      frames = take_all(reader);
      memory.give_back(reader.consumer());
    }
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].first.evaluation, number);
    EXPECT_EQ(frames[0].second, body) << bytes << " bytes";
    ++number;
  }
}

TEST(Ring, counters_pass_their_wrap) {
  RingMemory memory(1 << 20);
  RingProducer producer(memory.view());
  RingConsumer consumer(memory.view());
  Bytes payload(memory.view().largest_payload());
  RingConsumer::Record record;
  const std::uint64_t rounds = (std::uint64_t{1} << 32) / payload.size() + 100;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    std::memcpy(payload.data(), &i, sizeof i);
    ASSERT_EQ(producer.room(static_cast<std::uint32_t>(payload.size())), RingProducer::Room::yes);
    producer.put(3, payload, {});
    consumer.refresh();
    ASSERT_EQ(consumer.look(record), RingConsumer::Look::record);
    std::uint64_t seen;
    std::memcpy(&seen, record.a.data(), sizeof seen);
    ASSERT_EQ(seen, i);
    consumer.pop(record);
    memory.give_back(consumer);
  }
  EXPECT_LT(memory.tail.load(), 200u << 20) << "the counter went round once";
}

TEST(Ring, a_full_ring_says_what_it_needs_and_goes_on_where_it_stopped) {
  RingMemory memory(ring_bytes);
  FrameWriter writer(memory.view());
  FrameReader reader(memory.view());
  const auto body = pattern(2 * ring_bytes, 5);
  std::size_t written = 0;
  ASSERT_EQ(writer.write(numbered(5), body, written), FrameWriter::Result::full);
  EXPECT_EQ(written, 4 * (ring_bytes / 4 - RingView::overhead_bytes));
  EXPECT_EQ(writer.wanted_bytes(), ring_bytes / 4);
  const auto before = written;
  EXPECT_EQ(writer.write(numbered(5), body, written), FrameWriter::Result::full);
  EXPECT_EQ(written, before);
}

/// In memory that parent and child share.
struct Stage {
  Word tail, head, want_space;
  alignas(64) std::byte data[ring_bytes];
};

RingView view_of(Stage& stage) { return {{&stage.tail, &stage.head, &stage.want_space}, stage.data, ring_bytes}; }

[[noreturn]] void produce_under_trace(Stage& stage, FrameWriter writer, const std::vector<Bytes>& bodies) {
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  raise(SIGSTOP);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    std::size_t written = 0;
    writer.write(numbered(i), bodies[i], written);
  }
  (void)stage;
  _exit(0);
}

/// The number of whole frames that a consumer would find in the ring if the producer died now. They are compared with
/// the frames that were sent. -1: damaged.
int frames_left_behind(const Stage& now, FrameReader reader, Stage& copy, const std::vector<Bytes>& bodies) {
  std::memcpy(static_cast<void*>(&copy), static_cast<const void*>(&now), sizeof copy);
  FrameHead head;
  BytesView body;
  int whole = 0;
  reader.refresh();
  for (;; reader.pop()) {
    const auto result = reader.next(head, body);
    if (result == FrameReader::Result::nothing) return whole;
    if (result == FrameReader::Result::damaged) return -1;
    if (result == FrameReader::Result::part) continue;
    const auto& sent = bodies[static_cast<std::size_t>(whole)];
    if (head.evaluation != static_cast<std::uint64_t>(whole) ||
        !std::equal(body.begin(), body.end(), sent.begin(), sent.end()))
      return -1;
    ++whole;
  }
}

TEST(Ring, a_producer_killed_between_any_two_instructions_leaves_nothing_half_visible) {
  void* shared = mmap(nullptr, sizeof(Stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& stage = *new (shared) Stage{};
  const auto copy = std::make_unique<Stage>();
  FrameWriter writer(view_of(stage));
  FrameReader reader(view_of(*copy));
  // Bring both near the end of the ring, so that a frame under trace wraps.
  for (int i = 0; i < 5; ++i) {
    std::size_t written = 0;
    ASSERT_EQ(writer.write(numbered(0), pattern(700, 9), written), FrameWriter::Result::whole);
    std::memcpy(static_cast<void*>(copy.get()), shared, sizeof(Stage));
    ASSERT_EQ(take_all(reader).size(), 1u);
    stage.head.store(reader.consumer().head());
  }
  const std::vector<Bytes> bodies{pattern(40, 1), pattern(513, 2), pattern(1500, 3), pattern(0, 4)};
  const pid_t child = fork();
  if (child == 0) produce_under_trace(stage, writer, bodies);
  int status = 0, whole = 0;
  long instructions = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL);
  while (WIFSTOPPED(status)) {
    const int now = frames_left_behind(stage, reader, *copy, bodies);
    ASSERT_TRUE(now == whole || now == whole + 1)
        << "after " << instructions << " instructions: " << now << " after " << whole;
    whole = now;
    ++instructions;
    ASSERT_EQ(ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr), 0)
        << "this system does not let a process trace its child";
    ASSERT_EQ(waitpid(child, &status, 0), child);
  }
  EXPECT_EQ(frames_left_behind(stage, reader, *copy, bodies), 4);
  EXPECT_GT(instructions, 100);
  munmap(shared, sizeof(Stage));
}

TEST(Ring, a_randomly_damaged_ring_is_read_without_harm) {
  Random random(7);
  RingMemory memory(ring_bytes);
  int damaged = 0;
  for (int round = 0; round < 20000; ++round) {
    memory.tail.store(0);
    memory.head.store(0);
    FrameWriter writer(memory.view());
    FrameReader reader(memory.view());
    std::size_t written = 0;
    for (int i = 0; i < 3; ++i) writer.write(numbered(0), pattern(random.below(1200), 1), written = 0);
    for (auto hits = 1 + random.below(3); hits > 0; --hits) {
      const auto value = static_cast<std::uint32_t>(random.next());
      if (random.below(3) == 0)
        memory.tail.store(random.below(2) ? value : memory.tail.load() ^ (1u << random.below(32)));
      else std::memcpy(memory.data + random.below(1024) * 4, &value, 4);
    }
    FrameHead head;
    BytesView body;
    reader.refresh();
    auto result = FrameReader::Result::part;
    std::size_t seen = 0;
    for (; result == FrameReader::Result::part || result == FrameReader::Result::frame; reader.pop()) {
      result = reader.next(head, body);
      if (result == FrameReader::Result::frame)
        for (const auto b : body) seen += std::to_integer<std::size_t>(b);
      if (result == FrameReader::Result::damaged || result == FrameReader::Result::nothing) break;
    }
    damaged += result == FrameReader::Result::damaged;
    ASSERT_LT(seen, std::size_t{ring_bytes} * 256);
  }
  EXPECT_GT(damaged, 1000) << "the damage did not reach what is checked";
}

TEST(Ring, a_record_that_claims_more_than_is_there_is_damage) {
  RingMemory memory(ring_bytes);
  for (const std::uint32_t claimed : {105u, 500u, memory.view().largest_payload()}) {
    memory.tail.store(0);
    RingProducer producer(memory.view());
    RingConsumer consumer(memory.view());
    producer.put(3, pattern(100, 1), {});
    std::memcpy(memory.data, &claimed, sizeof claimed);
    RingConsumer::Record record;
    consumer.refresh();
    EXPECT_EQ(consumer.look(record), RingConsumer::Look::damaged) << claimed << " of 100 bytes";
  }
}

/// The producer writes no payload: what is read of untouched memory costs the test none.
class EndlessFrame {
 public:
  explicit EndlessFrame(RingMemory& memory) : memory_(memory), reader_(memory.view()) {}
  FrameReader::Result add(std::uint32_t bytes) {
    const std::uint32_t record[2] = {bytes, std::exchange(flags_, 0)};
    std::memcpy(memory_.data + (tail_ & (memory_.size - 1)), record, sizeof record);
    memory_.tail.store(tail_ += RingView::record_bytes(bytes));
    reader_.refresh();
    const auto result = reader_.next(head_, body_);
    reader_.pop();
    return result;
  }

 private:
  RingMemory& memory_;
  FrameReader reader_;
  FrameHead head_;
  BytesView body_;
  std::uint32_t tail_ = 0, flags_ = FragmentFlags::first;
};

TEST(Ring, a_frame_that_grows_beyond_the_largest_body_is_damage) {
  constexpr std::size_t part_bytes = (std::size_t{1} << 26) + 64;  // so that the reader's buffer grows to little more
  RingMemory memory(1u << 29);
  EndlessFrame frame(memory);
  for (auto left = sizeof(FrameHead) + largest_body_bytes; left > 0;) {
    const auto n = std::min(left, part_bytes);
    ASSERT_EQ(frame.add(static_cast<std::uint32_t>(n)), FrameReader::Result::part) << left << " bytes to go";
    left -= n;
  }
  EXPECT_EQ(frame.add(1), FrameReader::Result::damaged);
}

TEST(Ring, a_head_that_cannot_be_true_is_damage) {
  for (const std::uint32_t hostile : {1u << 31, 5000u, ~0u}) {
    RingMemory memory(ring_bytes);
    RingProducer producer(memory.view());
    const Bytes payload(1000);
    while (producer.room(1000) == RingProducer::Room::yes) producer.put(3, payload, {});
    memory.head.store(hostile);
    EXPECT_EQ(producer.room(1000), RingProducer::Room::damaged) << hostile;
  }
}

}  // namespace
}  // namespace culmen
