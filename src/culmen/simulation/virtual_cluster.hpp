// A cluster on a virtual clock, with faults: a transport for the real engine, whose workers run the real worker code.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/simulation/virtual_clock.hpp"
#include "culmen/transport/transport.hpp"
#include "culmen/worker/worker.hpp"

namespace culmen {

/// How the cluster behaves; times in virtual seconds.
struct ClusterPlan {
  std::uint64_t seed = 1;
  std::size_t workers = 4;     ///< at the start, and again after a restart of the master
  double mean_duration_s = 1;  ///< of an evaluation, exponentially distributed
  double mean_delay_s = 0.01;  ///< of a frame, in each direction
  // Probabilities for each evaluation.
  double dies = 0;             ///< the worker dies instead of answering
  double leaves = 0;           ///< it answers, then leaves
  double answers_twice = 0;    ///< the result comes a second time, later
  double answers_late = 0;     ///< the worker is considered dead, and its answer comes afterwards
  double joins = 0;            ///< a new worker joins
  double relay_dies = 0;       ///< all workers of the relay are lost, and the results that wait there
  std::size_t per_relay = 4;   ///< workers with consecutive numbers
  std::size_t per_branch = 1;  ///< relays with consecutive numbers, which are lost with the first of them
  // Probabilities for each frame, in both directions.
  double loses = 0;    ///< the connection breaks: the worker connects again, as a new one, with its last results
  double delays = 0;   ///< it comes much later, and others overtake it
  double repeats = 0;  ///< it comes twice
};

/// Faults that happened, so that a test can see that it tested something.
struct FaultCounts {
  std::uint64_t died = 0, left = 0, twice = 0, late = 0, joined = 0, stale = 0;
  std::uint64_t relays = 0;                  ///< that died
  std::uint64_t behind_relays = 0;           ///< workers that were lost with them
  std::uint64_t behind_branches = 0;         ///< of these, those behind a further relay
  std::uint64_t lost_down = 0, lost_up = 0;  ///< frames: from the master, to the master
  std::uint64_t returned = 0;                ///< results that came again over a new connection
  std::uint64_t delayed_down = 0, delayed_up = 0, repeated_down = 0, repeated_up = 0;
};

class VirtualCluster final : public Transport {
 public:
  VirtualCluster(const ClusterPlan& plan, VirtualClock& clock, EvaluatorFactory factory);

  void send(WorkerId worker, const FrameHead& head, BytesView body) override;
  bool receive(Sink& sink) override;
  /// Moves the clock to the next event. Throws std::logic_error if there is neither an event nor a time-out, because
  /// the master would sleep for ever.
  void sleep(double at_most_s) override;
  void wake() noexcept override { woken_ = true; }
  void close(double grace_s) override;

  /// sleep() ends after this delay even if nothing arrives.
  void remind(double delay_s) { schedule(delay_s, {Kind::reminder, 0, {}, {}, false}); }

  /// The master died: all workers leave and new ones join. Answers that are still under way will reach the next master.
  void restart();
  const FaultCounts& faults() const { return faults_; }

 private:
  enum class Kind { frame_to_worker, work_done, joined, arrived, lost, reminder };
  struct Happening {
    Kind kind = Kind::arrived;
    WorkerId worker = 0;
    FrameHead head;
    Bytes body;
    bool from_former_master = false;
  };
  struct VirtualWorker {
    std::shared_ptr<Worker> worker;  // of all its connections
    bool alive = true;
    bool busy = false;
    std::deque<Happening> waiting;
    std::deque<Worker::Reply> last_results;
    std::optional<WorkerId> next = {};  // its number since it has connected again
    double joins_s = 0;                 // when the master hears of it
    bool gone = false;                  // the master has heard that it is lost
  };

  void schedule(double delay_s, Happening happening);
  void schedule_join();
  bool comes_too_late(const Happening& h) const;
  void connect_again(WorkerId w);
  WorkerId latest(WorkerId w) const;
  void keep(WorkerId w, const Worker::Reply& reply);
  void kill_relay_of(WorkerId w);
  void release(WorkerId w);
  double delay(std::uint64_t& delayed);
  void take_frame(Happening& h);
  void begin(WorkerId w);
  void finish(Happening& h);
  void answer(WorkerId w, const Worker::Reply& reply, double delay_s);
  void lose(WorkerId w);
  std::size_t alive() const;
  bool chance(double p) { return random_.uniform() < p; }
  double exponential(double mean);

  ClusterPlan plan_;
  VirtualClock& clock_;
  EvaluatorFactory factory_;
  Random random_;
  std::multimap<double, Happening> future_;
  std::deque<Happening> for_master_;
  std::vector<VirtualWorker> workers_;
  FaultCounts faults_;
  bool woken_ = false;
};

}  // namespace culmen
