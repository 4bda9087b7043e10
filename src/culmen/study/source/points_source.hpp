// Candidates that a program chooses itself: any thread adds vectors to a queue, and the engine takes them.
#pragma once
#include <deque>
#include <vector>

#include "culmen/study/source/program_source.hpp"

namespace culmen {

/// Vectors of a space, evaluated in the order of their arrival. A failure is an outcome like any other. Vectors are
/// numbered from 0.
class PointsSource final : public ProgramSource {
 public:
  /// True if the engine must be told (Engine::offer). Throws InputError after close() and end().
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
