#include <gtest/gtest.h>

#include <map>

#include "culmen/base/error.hpp"
#include "culmen/transport/relay/parcels.hpp"
#include "line_in_memory.hpp"

namespace culmen {
namespace {

Bytes bytes_of(std::size_t n, int seed) {
  Bytes bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(i * 31 + static_cast<std::size_t>(seed));
  return bytes;
}

struct Taken {
  WorkerId worker;
  ParcelKind kind;
  Bytes content;
};

/// One way of a line, from an outbox to an inbox.
class Parcels : public ::testing::Test {
 protected:
  /// Delivers all messages that the line holds, and counts them.
  std::size_t deliver(std::size_t workers = 4) {
    std::size_t peer = 0, messages = 0;
    BytesView message;
    for (; ends_[1]->receive(peer, message); ++messages) {
      EXPECT_LE(message.size(), Line::largest_message);
      in_.read(message, workers, [this](const Parcel& p) {
        taken_.push_back({p.worker, p.kind, Bytes(p.content.begin(), p.content.end())});
      });
    }
    return messages;
  }
  void flush() { out_.flush(*ends_[0], 0); }

  std::vector<std::unique_ptr<LineInMemory>> ends_ = LineInMemory::make(1);
  Outbox out_;
  Inbox in_;
  std::vector<Taken> taken_;
};

TEST_F(Parcels, share_a_message_if_they_are_sent_together) {
  for (WorkerId worker = 0; worker < 4; ++worker) out_.add(worker, ParcelKind::frame, bytes_of(100, 1), bytes_of(3, 2));
  flush();
  EXPECT_EQ(deliver(), 1U);
  ASSERT_EQ(taken_.size(), 4U);
  auto whole = bytes_of(100, 1);
  const auto tail = bytes_of(3, 2);
  whole.insert(whole.end(), tail.begin(), tail.end());
  for (WorkerId worker = 0; worker < 4; ++worker) {
    EXPECT_EQ(taken_[worker].worker, worker);
    EXPECT_EQ(taken_[worker].content, whole);
  }
  EXPECT_EQ(out_.messages(), 1U);
}

TEST_F(Parcels, wait_together_while_the_line_is_busy) {
  for (int i = 0; i < 100; ++i) {
    out_.add(0, ParcelKind::frame, bytes_of(10, i));
    flush();
  }
  EXPECT_EQ(deliver(), 2U) << "the line holds two messages";
  flush();
  EXPECT_EQ(deliver(), 1U) << "all others";
  ASSERT_EQ(taken_.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(taken_[static_cast<std::size_t>(i)].content, bytes_of(10, i));
}

TEST_F(Parcels, of_one_worker_keep_their_order_and_a_large_one_lets_others_pass) {
  out_.add(0, ParcelKind::frame, bytes_of(std::size_t{1} << 20, 1));
  out_.add(0, ParcelKind::lost, bytes_of(5, 2));
  out_.add(1, ParcelKind::frame, bytes_of(7, 3));
  while (!out_.empty()) {
    flush();
    deliver();
  }
  deliver();
  ASSERT_EQ(taken_.size(), 3U);
  EXPECT_EQ(taken_[0].worker, 1U);
  EXPECT_EQ(taken_[1].content, bytes_of(std::size_t{1} << 20, 1));
  EXPECT_EQ(taken_[2].kind, ParcelKind::lost);
}

TEST_F(Parcels, of_a_worker_with_a_large_one_take_turns_with_those_of_others) {
  const auto large = bytes_of(std::size_t{1} << 20, 1);
  for (WorkerId worker = 0; worker < 2; ++worker) out_.add(worker, ParcelKind::frame, large, {});
  // No message has room for it now, so it waits in the queue.
  const auto small = bytes_of(Line::largest_message - 100, 3);
  out_.add(2, ParcelKind::frame, small, {});
  std::size_t messages = 0;
  while (!out_.empty()) {
    flush();
    messages += deliver();
    if (taken_.empty()) EXPECT_LT(messages, 12U) << "a small frame waits for the large ones";
  }
  deliver();
  ASSERT_EQ(taken_.size(), 3U);
  EXPECT_EQ(taken_[0].worker, 2U);
  EXPECT_EQ(taken_[0].content, small);
  EXPECT_EQ(taken_[1].content, large);
  EXPECT_EQ(taken_[2].content, large);
}

TEST_F(Parcels, of_any_size_arrive_as_they_were) {
  const std::size_t most = Line::largest_message;
  int seed = 0;
  std::vector<Bytes> sent;
  for (const std::size_t n :
       {std::size_t{0}, std::size_t{1}, most - 17, most - 16, most - 15, most, 3 * most + 5, std::size_t{0}})
    for (WorkerId worker = 0; worker < 3; ++worker) {
      sent.push_back(bytes_of(n, ++seed));
      out_.add(worker, ParcelKind::frame, sent.back());
    }
  while (!out_.empty()) {
    flush();
    deliver();
  }
  deliver();
  ASSERT_EQ(taken_.size(), sent.size());
  std::map<WorkerId, std::size_t> next;
  for (const auto& one : taken_) EXPECT_EQ(one.content, sent[3 * next[one.worker]++ + one.worker]);
  EXPECT_EQ(out_.queued_bytes(), 0U);
}

TEST_F(Parcels, of_no_worker_are_read_after_a_frame_that_never_ends) {
  out_.add(0, ParcelKind::frame, bytes_of(std::size_t{1} << 20, 1));
  flush();
  out_.clear();
  Bytes content;
  ByteWriter(content).f64(7);
  out_.add(0, ParcelKind::close, content);
  deliver();
  flush();
  deliver();
  ASSERT_EQ(taken_.size(), 1U);
  EXPECT_EQ(taken_[0].kind, ParcelKind::close);
  EXPECT_EQ(taken_[0].content, content);
}

TEST_F(Parcels, that_no_outbox_makes_are_an_error) {
  const auto read = [this](Bytes message) { in_.read(message, 4, [](const Parcel&) {}); };
  const auto message_of = [](std::initializer_list<std::uint32_t> words) {
    Bytes out;
    for (const auto word : words) ByteWriter(out).u32(word);
    return out;
  };
  EXPECT_NO_THROW(read(message_of({3, 2, 1, 0})));
  EXPECT_THROW(read(message_of({4, 2, 1, 0})), Error) << "a worker that does not exist";
  EXPECT_THROW(read(message_of({3, 0, 1, 0})), Error);
  EXPECT_THROW(read(message_of({3, 99, 1, 0})), Error);
  EXPECT_THROW(read(message_of({3, 1, 1, 5})), Error) << "fewer bytes than it says";
  EXPECT_THROW(read(message_of({3, 1})), Error);
}

}  // namespace
}  // namespace culmen
