// Candidates that a program names itself: a queue of vectors that any thread fills while the engine empties it.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "culmen/optimizer/source.hpp"

namespace culmen {

/// What became of a vector: its number, and the whole outcome.
struct FinishedPoint {
  EvaluationId number = 0;
  Outcome outcome;
};

/// Vectors of a space that are evaluated in the order in which they came; a failure is an outcome like others. Numbers
/// count the vectors from 0 on. Any thread may push, take and close.
class PointsSource final : public Source {
 public:
  /// True when the engine has to be told (Engine::offer). Throws InputError after close() and end().
  bool push(std::vector<std::vector<double>> vectors);
  /// Nothing more is pushed: it is finished when the last outcome is there.
  void close();
  /// Sleeps until something has finished, end() was called, or timeout_s passed. In order of arrival.
  std::vector<FinishedPoint> take(double timeout_s);
  /// The engine has ended: take() sleeps no more.
  void end();
  bool ended() const;

  std::size_t ask(std::size_t n, std::vector<Candidate>& out) override;
  void tell(EvaluationId id, Outcome& outcome) override;
  void cancel(EvaluationId id) override;
  bool finished() const override;
  bool generational() const override { return false; }
  bool journalled() const override { return false; }
  bool open_ended() const override { return true; }
  std::string name() const override { return "points"; }
  std::uint64_t asked() const override;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<double>> queue_;
  std::vector<FinishedPoint> finished_;
  std::uint64_t next_ = 0, open_ = 0;  // open: asked, and neither told nor cancelled
  bool hungry_ = false;                // the last ask() got fewer than it wanted
  bool closed_ = false;
  bool ended_ = false;
};

}  // namespace culmen
