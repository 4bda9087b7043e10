// The latest told evaluations of a run, in memory: for programs that look at them without a store.
#pragma once
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "culmen/evaluation/outcome.hpp"
#include "culmen/space/candidate.hpp"

namespace culmen {

/// An evaluation that the optimizer was told.
struct ToldEvaluation {
  Candidate candidate;
  Outcome outcome;
  std::uint32_t epoch = 1, worker = 0, attempt = 0;
  double at_s = 0;           ///< time of arrival, seconds since 1970
  std::uint64_t number = 0;  ///< its place in the order of tells since the run began; History sets it
};

/// Keeps at most `most_bytes` bytes; the oldest evaluations are dropped. Any thread may call it.
class History {
 public:
  explicit History(std::size_t most_bytes) : most_bytes_(most_bytes) {}
  void add(ToldEvaluation told);
  /// How many were added.
  std::uint64_t count() const;
  /// How many of them were dropped.
  std::uint64_t dropped() const;
  /// Copies of at most `most` kept evaluations, from number `first` on. Numbers count from 0, in the order of telling.
  std::vector<ToldEvaluation> from(std::uint64_t first, std::size_t most) const;

 private:
  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::deque<ToldEvaluation> kept_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace culmen
