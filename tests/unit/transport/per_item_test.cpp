// TCP with a connection for each item: what its protocol promises when connections break, and many workers.
#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <set>
#include <thread>

#include "network_fixture.hpp"

namespace culmen {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::unique_ptr<OpenTransport> listen_for_items(double absence_s = 3600) {
  auto options = listen_at("tcp-per-item");
  options.absence_s = absence_s;
  return make_open_transport(options);
}

/// A worker that is written by hand.
struct ByHand {
  explicit ByHand(const Address& address) : address(address) {}
  void bring(Visit said, const std::vector<EvaluationId>& results) {
    said.greeting = greeting_by_hand();
    said.frames = results.size();
    Bytes out;
    append_frame(out, head_of(visit), encode(said));
    for (const auto result : results) append_frame(out, frame_of(result, FrameKind::result), {});
    socket.connect(address);
    socket.write(out);
  }
  Answer hear() {
    const auto block = socket.read_all();
    BytesView rest = block, body;
    FrameHead head;
    EXPECT_TRUE(next_frame(rest, head, body));
    EXPECT_EQ(head.kind, answer);
    const auto said = decode_answer(body);
    items.clear();
    while (next_frame(rest, head, body)) items.push_back(head.evaluation);
    EXPECT_EQ(items.size(), said.frames);
    socket.close();
    return said;
  }
  Address address;
  BlockingSocket socket;
  std::vector<EvaluationId> items;
};

TEST(PerItem, is_an_address) {
  EXPECT_EQ(parse_address("tcp-per-item://127.0.0.1:7443").scheme, "tcp-per-item");
  EXPECT_EQ(to_string(parse_address("tcp-per-item://127.0.0.1:7443")), "tcp-per-item://127.0.0.1:7443");
}

TEST(PerItem, refuses_others) {
  const auto transport = listen_for_items();
  auto options = joining(*transport);
  options.token = "wrong";
  EXPECT_THAT(complaint_of([&] { join_master(options); }), HasSubstr("its token is not the one of this study"));
  options = joining(*transport);
  options.work = 8;
  EXPECT_THAT(complaint_of([&] { join_master(options); }), HasSubstr("it was started with another study"));
  EXPECT_EQ(transport->connected(), 0u);
}

TEST(PerItem, refuses_a_visit_that_never_ends) {
  auto options = listen_at("tcp-per-item");
  options.largest_body = 1000;
  const auto transport = make_open_transport(options);
  Visit said;
  said.greeting = greeting_by_hand();
  said.frames = std::uint64_t{1} << 63;
  Bytes out;
  append_frame(out, head_of(visit), encode(said));
  const Bytes body(1000);
  while (out.size() < 2 * options.largest_body + 2 * greeting_bytes)
    append_frame(out, frame_of(1, FrameKind::result), body);
  BlockingSocket socket;
  socket.connect(transport->address());
  socket.write(out);
  const auto [kind, why] = only_frame(socket);
  EXPECT_EQ(kind, refusal);
  EXPECT_THAT(why, HasSubstr("it brought more than"));
  EXPECT_THAT(options.refusals->known().last, HasSubstr("it brought more than"));
}

std::string refusal_of(const Address& address, BytesView said) {
  BlockingSocket socket;
  socket.connect(address);
  socket.write(said);
  const auto [kind, why] = only_frame(socket);
  EXPECT_EQ(kind, refusal);
  return why;
}

TEST(PerItem, refuses_another_version_of_culmen) {
  const auto transport = listen_for_items();
  Visit said;
  said.greeting = greeting_by_hand("0.0.7");
  Bytes out;
  append_frame(out, head_of(visit), encode(said));
  EXPECT_EQ(refusal_of(transport->address(), out),
            "it has culmen 0.0.7, and the run has culmen " CULMEN_VERSION "; install the same version on both");
  out.clear();
  append_frame(out, head_of(visit), Bytes(100));
  EXPECT_THAT(refusal_of(transport->address(), out), HasSubstr("its greeting is not one of culmen " CULMEN_VERSION));
}

TEST(PerItem, frames_of_a_broken_connection_are_repeated_and_used_once) {
  const auto transport = listen_for_items();
  Heard heard;
  ByHand worker(transport->address());
  worker.bring({.waits = false}, {5});
  receive_until(*transport, heard, [&] { return heard.frames.size() == 1; });
  worker.socket.close();  // it does not hear the answer

  // It does not know its number yet: for the master it is another worker.
  worker.bring({.waits = false}, {5});
  receive_until(*transport, heard, [&] { return heard.frames.size() == 2; });
  auto said = worker.hear();
  EXPECT_EQ(said.worker, 1u);
  EXPECT_EQ(said.received, 1u);

  transport->send(1, frame_of(10), {});
  worker.bring({.worker = 1, .first = 1, .waits = true}, {6});
  receive_until(*transport, heard, [&] { return heard.frames.size() == 3; });
  worker.socket.close();  // the item is lost on its way
  transport->send(1, frame_of(11), {});
  worker.bring({.worker = 1, .first = 1, .waits = true}, {6, 7});
  receive_until(*transport, heard, [&] { return heard.frames.size() == 4; });
  said = worker.hear();
  EXPECT_EQ(said.received, 3u);
  EXPECT_THAT(worker.items, ElementsAre(10, 11));
  EXPECT_THAT(heard.frames, ElementsAre(Pair(0, 5), Pair(1, 5), Pair(1, 6), Pair(1, 7)));

  transport->send(1, frame_of(12), {});
  worker.bring({.worker = 1, .received = 2, .first = 3, .waits = true}, {});
  EXPECT_EQ(worker.hear().first, 2u);
  EXPECT_THAT(worker.items, ElementsAre(12));
  EXPECT_TRUE(heard.left.empty());
}

TEST(PerItem, a_worker_that_stays_away_is_lost_and_comes_back_as_another) {
  const auto transport = listen_for_items(0.2);
  Heard heard;
  ByHand worker(transport->address());
  worker.bring({.waits = false}, {});
  EXPECT_EQ(worker.hear().worker, 0u);
  receive_until(*transport, heard, [&] { return !heard.left.empty(); });
  EXPECT_THAT(heard.left, ElementsAre(Pair(0, HasSubstr("it has not come back"))));
  worker.bring({.worker = 0, .received = 4, .first = 3, .waits = true}, {9});
  receive_until(*transport, heard, [&] { return !heard.frames.empty(); });
  transport->send(1, frame_of(20), {});
  const auto said = worker.hear();
  EXPECT_EQ(said.worker, 1u);
  EXPECT_EQ(said.received, 4u);
  EXPECT_EQ(said.first, 4u);
  EXPECT_THAT(heard.frames, ElementsAre(Pair(1, 9)));
}

TEST(PerItem, bytes_that_are_no_visit_are_refused) {
  const auto transport = listen_for_items();
  Bytes greeting_of_others, too_short(16);
  append_frame(greeting_of_others, head_of(greeting), encode(greeting_by_hand()));
  EXPECT_THAT(refusal_of(transport->address(), greeting_of_others),
              HasSubstr("it came with tcp://, and the run listens with"));
  EXPECT_THAT(refusal_of(transport->address(), too_short),
              HasSubstr("a frame of 0 bytes, which is shorter than its head"));
  EXPECT_EQ(transport->connected(), 0u);
}

TEST(PerItem, a_thousand_workers_lose_no_item) {
  constexpr std::size_t workers = 1000;
  constexpr EvaluationId items = 5000;
  const auto transport = listen_for_items();
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < workers; ++i)
    threads.emplace_back([&] {
      const auto endpoint = join_master(joining(*transport));
      FrameHead head = frame_of(items, FrameKind::hello);
      endpoint->send(head, {});
      for (Bytes body; endpoint->receive(head, body);) endpoint->send(head, body);
    });
  Heard heard;
  EvaluationId next = 0;
  std::map<EvaluationId, int> results;
  heard.reply = [&](WorkerId worker, const FrameHead& head) {
    if (head.evaluation < items) ++results[head.evaluation];
    if (next < items) transport->send(worker, frame_of(next++, FrameKind::result), Bytes(64));
  };
  receive_until(*transport, heard, [&] { return results.size() == items; });
  for (const auto& [item, times] : results) EXPECT_EQ(times, 1) << item;
  EXPECT_TRUE(heard.left.empty());
  EXPECT_EQ(std::set<WorkerId>(heard.came.begin(), heard.came.end()).size(), heard.came.size());
  transport->close(10);
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace culmen
