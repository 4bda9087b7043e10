// Workers that a program lends: its own executor evaluates, this process does everything else.
#pragma once
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "culmen/study/crew/crew.hpp"
#include "culmen/transport/handed/handed.hpp"
#include "culmen/worker/worker.hpp"

namespace culmen {

/// Gives evaluations to the program and takes their outcomes back, from any thread. Outcomes pass through the code of a
/// worker, so they are judged by the same rules as all others.
class LentWorkers {
 public:
  struct Work {
    std::uint64_t ticket;
    std::vector<double> x;  ///< space order, own units
  };
  /// `workers`: how many evaluations run at a time.
  explicit LentWorkers(std::size_t workers);
  ~LentWorkers();

  /// The evaluations to do now. Empty after at_most_s, or when the study has ended.
  std::vector<Work> take(double at_most_s);
  /// Must be called once for every ticket. Throws Error for an unknown ticket.
  void give(std::uint64_t ticket, Outcome outcome);
  /// The executor cannot evaluate any more: the study stops with this sentence.
  void fail(const std::string& sentence);
  /// Ends take() and give(), even if no study has begun.
  void end() { transport_.close(0); }
  bool ended() const { return transport_.closed(); }

  HandedTransport& transport() { return transport_; }
  std::size_t workers() const { return workers_; }

 private:
  void answer(HandedFrame frame);

  const std::size_t workers_;
  HandedTransport transport_;
  std::mutex mutex_;
  Outcome outcome_;  // the next result of the worker's evaluator
  Worker worker_;
  std::uint64_t tickets_ = 0;
  std::unordered_map<std::uint64_t, HandedFrame> open_;
  FrameHead last_head_;
};

std::unique_ptr<Crew> make_lent_crew(std::shared_ptr<LentWorkers> workers);

}  // namespace culmen
