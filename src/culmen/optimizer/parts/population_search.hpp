// The common part of population methods: candidates come in generations or asynchronously.
#pragma once
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "culmen/optimizer/core/remembering.hpp"

namespace culmen {

/// A trial is what a method remembers of a candidate until it is told. A verdict is what it needs from an outcome.
///
/// Generational: propose() is called as often as begin_generation() said. When all these candidates have come back,
/// absorb() gets them in the order of candidates. Asynchronous: propose() is called for each ask, and absorb() gets
/// each result as it is told. A generation ends when as many results were absorbed as it holds.
template <typename Trial, typename Verdict>
class PopulationSearch : public Remembering<Trial> {
 public:
  Mode mode() const final { return mode_; }

 protected:
  explicit PopulationSearch(const Terms& terms) : mode_(terms.mode) {}
  /// Call this from the constructor and from end_generation().
  void begin_generation(std::size_t size) {
    size_ = std::max<std::size_t>(1, size);
    served_ = absorbed_ = 0;
  }

  /// The next trial; `x` becomes its vector.
  virtual Trial propose(std::vector<double>& x) = 0;
  virtual Verdict verdict_of(const Outcome& outcome) const = 0;
  /// No verdict: the candidate was cancelled.
  virtual void absorb(Trial&& trial, std::optional<Verdict>&& verdict) = 0;
  virtual void end_generation() = 0;
  /// Whether the trial belongs to a population that was given up. It is then not absorbed and counts for no generation.
  virtual bool is_stale(const Trial& /*trial*/) const { return false; }

 private:
  struct Settled {
    EvaluationId id;
    Trial trial;
    std::optional<Verdict> verdict;
  };

  void do_ask(std::size_t n, typename Remembering<Trial>::Asked& out) final {
    for (; n > 0 && (mode_ == Mode::asynchronous || served_ < size_); --n, ++served_) {
      std::vector<double> x;
      auto trial = propose(x);
      out.give(std::move(x), std::move(trial));
    }
  }
  void do_tell(EvaluationId id, Trial&& trial, const Outcome& outcome) final {
    settle(id, std::move(trial), verdict_of(outcome));
  }
  void do_cancel(EvaluationId id, Trial&& trial) final { settle(id, std::move(trial), {}); }

  void settle(EvaluationId id, Trial&& trial, std::optional<Verdict> verdict) {
    if (mode_ == Mode::asynchronous) {
      if (is_stale(trial)) return;
      absorb(std::move(trial), std::move(verdict));
      if (++absorbed_ >= size_) end_generation();
      return;
    }
    settled_.push_back({id, std::move(trial), std::move(verdict)});
    if (settled_.size() < size_) return;
    std::ranges::sort(settled_, {}, &Settled::id);
    for (auto& s : settled_) absorb(std::move(s.trial), std::move(s.verdict));
    settled_.clear();
    end_generation();
  }

  const Mode mode_;
  std::size_t size_ = 1, served_ = 0, absorbed_ = 0;
  std::vector<Settled> settled_;  // in this generation
};

}  // namespace culmen
