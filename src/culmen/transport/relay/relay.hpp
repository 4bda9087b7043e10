// A relay: it stands between the master and the workers of another node. Other relays may be behind it.
#pragma once
#include <functional>

#include "culmen/transport/relay/pace.hpp"
#include "culmen/transport/relay/parcels.hpp"
#include "culmen/transport/relay/patience.hpp"
#include "culmen/transport/transport.hpp"

namespace culmen {

class RelayTransport;

/// Where a relay stands in a tree of relays.
struct RelayPlace {
  RelayTransport* behind = nullptr;  ///< the relays behind it; the relay's transport contains their workers
  std::size_t relays_on_way = 1;     ///< between the master and the farthest worker
};

/// Peer 0 of the line is the master, or the relay in front of this one. A relay alone uses the line on its node, and
/// one thread runs it.
class Relay final : private Transport::Sink {
 public:
  /// `node`: the transport of the node's workers and of those behind it. They have the numbers 0 … workers − 1.
  /// `remaining`: after its close(), how many have not left.
  Relay(Line& line, Transport& node, std::size_t workers, std::function<std::size_t()> remaining,
        const RelayPlace& place = {});
  /// Until the master closes, and the workers have left or their time is over. Throws Error for a message that cannot
  /// be read.
  void run();
  /// After an exception of run(): tells the master, if the line still works, and returns when the master closes. The
  /// evaluations of the workers here go to others meanwhile.
  void fail() noexcept;
  /// After run(): a worker of this node was lost, or one that the master knew of at the end.
  bool any_lost() const { return any_lost_; }

 private:
  void joined(WorkerId worker) override;
  void arrived(WorkerId worker, const FrameHead& head, BytesView body) override;
  void lost(WorkerId worker, const std::string& why) override;
  bool look_at_node();
  bool look_at_line();
  void flush();
  void take(const Parcel& parcel);
  void close();
  void say_closed(double at_most_s);
  void drain();

  Line& line_;
  Transport& node_;
  std::size_t workers_;
  std::function<std::size_t()> remaining_;
  RelayTransport* behind_;
  Outbox out_;
  Inbox in_;
  Pace pace_;
  Patience patience_;
  SteadyClock clock_;
  bool closing_ = false, any_lost_ = false;
  double grace_s_ = 0;
};

}  // namespace culmen
