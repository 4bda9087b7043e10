// A relay that fails, but whose process lives, gives the work of its workers back.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/transport/relay/relay.hpp"
#include "culmen/transport/relay/relay_transport.hpp"
#include "line_in_memory.hpp"

namespace culmen {
namespace {

/// Three workers join, one of them dies, and then the node's transport fails.
struct Failing final : Transport {
  void send(WorkerId, const FrameHead&, BytesView) override {}
  bool receive(Sink& sink) override {
    if (++calls == 1) {
      for (const WorkerId worker : {0, 1, 2}) sink.joined(worker);
      sink.lost(1, "killed");
      return true;
    }
    if (calls < 10) return false;
    throw Error("the mailbox is damaged");
  }
  void sleep(double) override {}
  void wake() noexcept override {}
  void close(double) override {}
  int calls = 0;
};

struct HeardOfRelays final : Transport::Sink {
  void joined(WorkerId worker) override { present.push_back(worker); }
  void arrived(WorkerId, const FrameHead&, BytesView) override {}
  void lost(WorkerId worker, const std::string& why) override { gone.emplace_back(worker, why); }
  std::vector<WorkerId> present;
  std::vector<std::pair<WorkerId, std::string>> gone;
};

TEST(RelayFailure, loses_all_workers_that_are_there) {
  const auto line = LineInMemory::make(2);
  RelayTransport master(*line[0], {2, 3}, 1);
  Failing node;
  Relay relay(*line[2], node, 3, [] { return 0; });
  EXPECT_THROW(relay.run(), Error);
  std::thread failed([&] { relay.fail(); });
  HeardOfRelays heard;
  while (heard.gone.size() < 3) master.receive(heard);  // a test that hangs is stopped
  EXPECT_EQ(heard.present, (std::vector<WorkerId>{2, 3, 4}));
  const std::vector<std::pair<WorkerId, std::string>> expected{
      {3, "killed"}, {2, "its relay has failed"}, {4, "its relay has failed"}};
  EXPECT_EQ(heard.gone, expected);
  master.send(2, {}, Bytes(100));  // it was under way to that worker
  EXPECT_EQ(master.queued_bytes(), 0U);
  Bytes content;
  ByteWriter(content).u64(0);
  Outbox out;
  out.add(0, ParcelKind::closed, content);
  out.flush(*line[1], 0);  // the other relay, at the end
  master.close(0);
  failed.join();  // it has heard of that
  EXPECT_TRUE(relay.any_lost());
  std::size_t peer = 0;
  BytesView message;
  EXPECT_FALSE(line[2]->receive(peer, message));
}

}  // namespace
}  // namespace culmen
