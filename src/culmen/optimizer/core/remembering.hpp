// Optimizers that remember something about each candidate.
#pragma once
#include <unordered_map>
#include <utility>
#include <vector>

#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen {

/// Keeps a memo with each candidate from ask() to its tell() or cancel(), so that no optimizer needs its own map of
/// ids. `Map` is std::map if the order of candidates matters.
template <typename Memo, template <typename...> typename Map = std::unordered_map>
class Remembering : public Optimizer {
 protected:
  /// Receives the candidates of one do_ask().
  class Asked {
   public:
    /// Returns the id that the candidate gets. memos() contains its memo at once.
    EvaluationId give(std::vector<double> x, Memo memo) {
      memos_.emplace(next_, std::move(memo));
      out_.push_back({0, std::move(x)});
      return next_++;
    }
    /// The id of the candidate that is given next.
    EvaluationId next() const { return next_; }

   private:
    friend Remembering;
    Asked(std::vector<Candidate>& out, Map<EvaluationId, Memo>& memos, EvaluationId& next)
        : out_(out), memos_(memos), next_(next) {}

    std::vector<Candidate>& out_;
    Map<EvaluationId, Memo>& memos_;
    EvaluationId& next_;
  };

  /// Gives at most n candidates with their memos. Their values are in the space's order and the parameters' own units.
  virtual void do_ask(std::size_t n, Asked& out) = 0;
  /// memos() no longer contains `memo`.
  virtual void do_tell(EvaluationId id, Memo&& memo, const Outcome& outcome) = 0;
  virtual void do_cancel(EvaluationId id, Memo&& memo) = 0;
  /// Of the open candidates.
  const Map<EvaluationId, Memo>& memos() const { return memos_; }
  Map<EvaluationId, Memo>& memos() { return memos_; }

 private:
  void do_ask(std::size_t n, std::vector<Candidate>& out) final {
    Asked asked(out, memos_, next_);
    do_ask(n, asked);
  }
  void do_tell(EvaluationId id, const Outcome& outcome) final { do_tell(id, taken(id), outcome); }
  void do_cancel(EvaluationId id) final { do_cancel(id, taken(id)); }
  Memo taken(EvaluationId id) { return std::move(memos_.extract(id).mapped()); }

  Map<EvaluationId, Memo> memos_;
  EvaluationId next_ = 0;  // of the next candidate
};

}  // namespace culmen
