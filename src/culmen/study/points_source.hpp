// Candidates that a program names itself: a queue of vectors that any thread fills while the engine empties it.
#pragma once
#include <deque>
#include <vector>

#include "culmen/study/program_source.hpp"

namespace culmen {

/// Vectors of a space that are evaluated in the order in which they came; a failure is an outcome like others. Numbers
/// count the vectors from 0 on.
class PointsSource final : public ProgramSource {
 public:
  /// True when the engine has to be told (Engine::offer). Throws InputError after close() and end().
  bool push(std::vector<std::vector<double>> vectors);
  std::size_t ask(std::size_t n, std::vector<Candidate>& out) override;
  void tell(EvaluationId id, Outcome& outcome) override;
  void cancel(EvaluationId id) override;
  bool finished() const override;
  std::string name() const override { return "points"; }

 private:
  std::deque<std::vector<double>> queue_;
  std::uint64_t open_ = 0;  // asked, and neither told nor cancelled
};

}  // namespace culmen
