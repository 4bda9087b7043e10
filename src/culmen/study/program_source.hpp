// Candidates that a program gives while the engine asks for them: what its queues have in common.
#pragma once
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "culmen/evaluation/source.hpp"

namespace culmen {

/// What became of a thing that the program pushed: the program's number of it, and the whole outcome.
struct Finished {
  std::uint64_t number = 0;
  Outcome outcome;
};

/// Any thread may call what Source does not have; the engine's calls the rest.
class ProgramSource : public Source {
 public:
  /// Nothing more is pushed: it is finished when the last outcome is there.
  void close();
  /// Sleeps until something has finished, end() was called, or timeout_s passed. In order of arrival.
  std::vector<Finished> take(double timeout_s);
  /// The engine has ended: take() sleeps no more.
  void end();
  bool ended() const;

  bool generational() const final { return false; }
  bool journalled() const final { return false; }
  bool open_ended() const final { return true; }
  std::uint64_t asked() const final;

 protected:
  // Under mutex_:
  bool shut() const { return closed_ || ended_; }
  void finish(std::uint64_t number, Outcome&& outcome);

  mutable std::mutex mutex_;
  EvaluationId next_ = 0;  // of the next candidate
  bool hungry_ = false;    // the last ask() got fewer than it wanted: a push has to be told to the engine
  bool closed_ = false;

 private:
  std::condition_variable changed_;
  std::vector<Finished> finished_;
  bool ended_ = false;
};

}  // namespace culmen
