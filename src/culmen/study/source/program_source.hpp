// The common part of queues that a program fills with candidates while the engine asks for them.
#pragma once
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "culmen/evaluation/source.hpp"

namespace culmen {

/// The outcome of something that the program pushed, with the program's number for it.
struct Finished {
  std::uint64_t number = 0;
  Outcome outcome;
};

/// Any thread may call the functions that Source does not have. The others are for the engine's thread.
class ProgramSource : public Source {
 public:
  /// Allows no further push: the source is finished when the last outcome has arrived.
  void close();
  /// Sleeps until an evaluation has finished, end() was called, or timeout_s passed. Returns the outcomes in order of
  /// arrival.
  std::vector<Finished> take(double timeout_s);
  /// The engine has ended: take() no longer waits.
  void end();
  bool ended() const;

  Mode mode() const final { return Mode::asynchronous; }
  bool journalled() const final { return false; }
  bool open_ended() const final { return true; }
  std::uint64_t asked() const final;

 protected:
  // Under mutex_:
  bool shut() const { return closed_ || ended_; }
  void finish(std::uint64_t number, Outcome&& outcome);

  mutable std::mutex mutex_;
  EvaluationId next_ = 0;  // of the next candidate
  bool hungry_ = false;    // the last ask() got fewer than it wanted: the engine must hear of the next push
  bool closed_ = false;

 private:
  std::condition_variable changed_;
  std::vector<Finished> finished_;
  bool ended_ = false;
};

}  // namespace culmen
