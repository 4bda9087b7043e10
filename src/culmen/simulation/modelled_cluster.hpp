// A cluster of many workers on a virtual clock: a transport for the real engine. A worker takes 16 bytes, and an
// evaluation under way about 200.
#pragma once
#include <atomic>
#include <deque>
#include <queue>
#include <string>
#include <vector>

#include "culmen/simulation/durations.hpp"
#include "culmen/simulation/network_model.hpp"
#include "culmen/simulation/virtual_clock.hpp"
#include "culmen/transport/relay/relay_tree.hpp"
#include "culmen/transport/transport.hpp"
#include "culmen/worker/worker.hpp"

namespace culmen {

/// The state of the cluster at one moment.
struct ClusterMoment {
  double at_s = 0;             ///< virtual
  double evaluated_s = 0;      ///< of all workers together, also of evaluations that still run
  double master_s = 0;         ///< for which the master worked
  double line_s = 0;           ///< for which the master's line carried bytes, in the busier direction
  std::uint64_t ended = 0;     ///< evaluations
  std::uint64_t messages = 0;  ///< between nodes, both ways; one that a relay passes on counts again
  std::uint64_t relayed = 0;   ///< frames in them
};

/// Each worker evaluates its frames in their order; nothing fails. Between nodes:
/// - The relays are those of RelayTree. With many nodes, some of them pass on the messages of others.
/// - At most two messages are on their way between the master and a relay, or between two relays, in each direction.
///   Frames that wait share the next one.
/// - The line of the master, or of a relay with others behind it, carries one message at a time, each way.
/// - A relay works on one message or frame at a time.
class ModelledCluster final : public Transport {
 public:
  /// `worker` gives the outcomes of all evaluations. All workers join at once.
  ModelledCluster(const ClusterModel& model, Durations durations, VirtualClock& clock, Worker& worker);

  void send(WorkerId worker, const FrameHead& head, BytesView body) override;
  bool receive(Sink& sink) override;
  /// Moves the clock to the next event for the master. Throws std::logic_error if there is none and no time-out.
  void sleep(double at_most_s) override;
  void wake() noexcept override { woken_ = true; }
  void close(double) override {}

  /// Whatever happens until now, happens.
  void settle();
  /// The master has worked for `master_s` since settle(), without the cost of its messages. The clock advances, and the
  /// messages that it has sent depart.
  void worked(double master_s);
  /// sleep() ends then even if nothing arrives, at once if that was since the last receive().
  void remind(double at_s) { future_.push({at_s, Kind::reminder, 0, none}); }
  std::size_t delivered() const { return delivered_; }  ///< frames, since the last worked()

  ClusterMoment now() const;
  /// When every worker had an evaluation for the first time; the begin if that never was.
  const ClusterMoment& full() const { return full_; }
  /// When the master sent the last candidate.
  const ClusterMoment& last_sent() const { return last_sent_; }
  std::size_t most_running() const { return most_running_; }
  double busiest_relay_s() const;
  /// Those that get their work from the master itself.
  std::size_t first_relays() const { return tree_.children(0).size(); }

 private:
  using Index = std::uint32_t;
  static constexpr Index none = ~Index{0};
  enum class Kind : unsigned char {
    done,
    came_up,    ///< a message from this node, at the master or at the relay above
    came_down,  ///< a message for this node's relay
    reminder
  };
  struct Happening {
    double at_s;
    Kind kind;
    Index node;
    Index task;  ///< the first one of a message
    bool operator>(const Happening& other) const { return at_s > other.at_s; }
  };
  struct Task {
    FrameHead head;
    Bytes body;  ///< at first the master's frame, then the reply
    double duration_s = 0;
    WorkerId worker = 0;
    Index next = none;
  };
  struct AtWorker {
    double free_s = 0;  ///< when it has done all frames that it has
    std::uint32_t waiting = 0;
  };
  struct Queue {
    Index first = none, last = none;
    std::size_t bytes = 0;
    unsigned under_way = 0;
  };
  struct Line {
    double free_s = 0, worked_s = 0;
    double carry(double at_s, double seconds);
  };
  struct Node {
    Index parent = 0;                 ///< of its relay
    double free_s = 0, worked_s = 0;  ///< of its relay
    Queue up, down;                   ///< messages that wait for the line between its relay and the parent
    Line from_behind, to_behind;      ///< carry what is between it and its children
  };
  struct Sent {
    WorkerId worker;
    FrameHead head;
    std::size_t begin, end;
  };

  Index node_of(WorkerId worker) const { return static_cast<Index>(worker / model_.workers_per_node); }
  Index new_task(const Sent& sent);
  void answer(Task& task);
  void append(Queue& queue, Index task);
  void flush_down(Index node, double at_s);
  void flush_up(Index node, double at_s);
  void happen(const Happening& h);
  void came_down(const Happening& h);
  void came_up(const Happening& h);
  /// Calls `handle` with each frame of a message that the relay of `node` reads.
  template <class Handle>
  void read(Node& node, const Happening& h, Handle handle);
  void reach_worker(Index task, double at_s);
  void done(Index task, double at_s);
  void begin(double at_s);
  void work(Node& node, double at_s, double seconds);
  Index first_on_way(Index node) const { return nodes_[node].parent == 0 ? node : nodes_[node].parent; }
  void deliver(Sink& sink, const Happening& message);
  double seconds_of(std::size_t bytes) const { return static_cast<double>(bytes) / model_.network.bandwidth_bytes_s; }

  ClusterModel model_;
  RelayTree tree_;
  Durations durations_;
  VirtualClock& clock_;
  Worker& worker_;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> future_;
  std::deque<Happening> for_master_;
  std::vector<Task> tasks_;
  std::vector<Index> free_tasks_;
  std::vector<AtWorker> workers_;
  std::vector<Node> nodes_;     // the first one is the master's
  std::vector<Index> reached_;  // nodes behind a relay, for which a message has frames
  std::vector<Sent> sent_;
  Bytes sent_bytes_;
  Worker::Reply hello_;
  bool has_hello_ = false;
  std::size_t joined_ = 0, delivered_ = 0, most_running_ = 0;
  double debt_s_ = 0;  // of the master, for messages
  double master_s_ = 0;
  std::uint64_t begun_ = 0, ended_ = 0, messages_ = 0, relayed_ = 0;
  double begins_s_ = 0, ends_s_ = 0;  // sums
  ClusterMoment full_, last_sent_;
  bool was_full_ = false, reminded_ = false;
  std::atomic<bool> woken_ = false;
};

}  // namespace culmen
