#include "culmen/optimizer/combine/combinators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/optimizer/combine/chain.hpp"
#include "culmen/optimizer/core/remembering.hpp"
#include "culmen/optimizer/parts/inner_jobs.hpp"

namespace culmen {
namespace {
// In a row. All of them are within one ask(), which Ctrl-C cannot interrupt: a second or two.
constexpr std::size_t most_infeasible = 100'000, most_infeasible_of_grids = 1'000'000;

/// An optimizer around another one, with the properties of that one.
template <typename Base>
class Around : public Base {
 public:
  Mode mode() const override { return inner_->mode(); }
  bool converged() const override { return inner_->converged(); }
  bool can_converge() const override { return inner_->can_converge(); }
  std::string name() const override { return inner_->name(); }
  std::string remark() const override { return inner_->remark(); }
  std::string library() const override { return inner_->library(); }
  std::optional<Recommendation> recommendation() const override { return inner_->recommendation(); }
  void resize(std::size_t workers) override { inner_->resize(workers); }

 protected:
  explicit Around(std::unique_ptr<Optimizer> inner) : inner_(std::move(inner)) { jobs_.add(*inner_); }

  const std::unique_ptr<Optimizer> inner_;

 private:
  std::function<Bytes()> do_job() override { return jobs_.next(); }
  void do_adopt(const Bytes& result) override { jobs_.adopt(result); }

  InnerJobs jobs_;
};

/// Remembers the ids of the inner optimizer; these ascend like its own.
class FeasibleOnly final : public Around<Remembering<EvaluationId, std::map>> {
 public:
  FeasibleOnly(std::unique_ptr<Optimizer> inner, const Space& space) : Around(std::move(inner)), space_(space) {}
  bool finished() const override { return inner_->finished(); }
  bool ends_by_itself() const override { return inner_->ends_by_itself(); }
  bool waits_for_starts() const override { return inner_->waits_for_starts(); }
  bool begins_at_start() const override {
    auto start = space_.start();
    space_.rest_inactive(start);
    return inner_->begins_at_start() && space_.feasible(start);
  }
  void hear(const std::vector<double>& x, const Outcome& outcome) override { inner_->hear(x, outcome); }

 private:
  void do_ask(std::size_t n, Asked& out) override {
    std::vector<Candidate> one;
    for (std::size_t got = 0; got < n;) {
      one.clear();
      if (inner_->ask(1, one) == 0) return;
      if (const double violation = space_.violation(one[0].x); violation > 0) {
        if (++in_a_row_ == (inner_->ends_by_itself() ? most_infeasible_of_grids : most_infeasible)) give_up(in_a_row_);
        infeasible_.emplace_back(one[0].id, violation);
        tell_infeasible();
        continue;
      }
      in_a_row_ = 0;
      ++got;
      out.give(std::move(one[0].x), one[0].id);
    }
  }

  void do_tell(EvaluationId, EvaluationId&& inner, const Outcome& outcome) override {
    inner_->tell(inner, outcome);
    tell_infeasible();
  }
  void do_cancel(EvaluationId, EvaluationId&& inner) override {
    inner_->cancel(inner);
    tell_infeasible();
  }

  /// If the inner optimizer is generational: only those with no open candidate before them.
  void tell_infeasible() {
    while (!infeasible_.empty()) {
      const auto [inner, violation] = infeasible_.front();
      if (inner_->generational() && !memos().empty() && memos().begin()->second < inner) return;
      infeasible_.pop_front();
      Outcome outcome;
      outcome.violation = violation;
      inner_->tell(inner, outcome);
    }
  }

  [[noreturn]] void give_up(std::size_t infeasible) const {
    std::string names;
    for (const auto& c : space_.constraints()) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", c.name);
    throw Error(fmt::format(
        "{} candidates in a row violate the constraints ({}); give each parameter an initial value, or widen the "
        "constraints",
        infeasible, names));
  }

  const Space space_;
  std::size_t in_a_row_ = 0;                                // infeasible ones in a row so far
  std::deque<std::pair<EvaluationId, double>> infeasible_;  // inner ids and violations, to be told
};

class StartingWith final : public Around<Optimizer> {
 public:
  StartingWith(std::unique_ptr<Optimizer> inner, std::vector<std::vector<double>> starts)
      : Around(std::move(inner)), starts_(std::move(starts)) {}
  bool finished() const override { return served_ == starts_.size() && inner_->finished(); }

 private:
  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    for (; n > 0 && served_ < starts_.size(); --n) out.push_back({0, starts_[served_++]});
    if (n == 0 || (inner_->waits_for_starts() && closed_ < starts_.size())) return;
    inner_->ask(n, out);
  }
  void do_tell(EvaluationId id, const Outcome& outcome) override {
    if (id >= starts_.size()) return inner_->tell(id - starts_.size(), outcome);
    ++closed_;
    inner_->hear(starts_[id], outcome);
  }
  void do_cancel(EvaluationId id) override {
    if (id >= starts_.size()) return inner_->cancel(id - starts_.size());
    ++closed_;
  }

  std::vector<std::vector<double>> starts_;
  std::size_t served_ = 0, closed_ = 0;  // of the starts
};

std::string sentence_for(const Space& space, const std::vector<double>& start) {
  std::string text;
  for (const auto& [name, value] : space.named(start))
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, to_string(value));
  return text;
}
}  // namespace

std::unique_ptr<Optimizer> feasible_only(std::unique_ptr<Optimizer> inner, const Space& space) {
  return std::make_unique<FeasibleOnly>(std::move(inner), space);
}

std::unique_ptr<Optimizer> starting_with(std::unique_ptr<Optimizer> inner, std::vector<std::vector<double>> starts) {
  return std::make_unique<StartingWith>(std::move(inner), std::move(starts));
}

Space beginning_at(const Space& space, const std::vector<double>& start) {
  auto parameters = space.all();
  for (std::size_t i = 0; i < space.size(); ++i)
    if (space[i].active_when.empty()) parameters[space.place(i)].initial = start[i];
  return Space(std::move(parameters), space.constraints());
}

std::unique_ptr<Optimizer> make_search(const Search& search, const Space& space) {
  const bool at_start = !space.has_start() && !search.starts.empty();
  const Space searched = at_start ? beginning_at(space, search.starts[0]) : space;
  const bool any = search.evaluate_infeasible;
  auto terms = search.terms;
  terms.yield.infeasible = any;
  auto optimizer = make_optimizer(search.optimizer, searched, search.seed, search.options, terms);
  std::vector<std::vector<double>> starts;
  if (auto start = space.start(); space.has_start()) {
    space.rest_inactive(start);
    if (any || space.feasible(start)) starts.push_back(std::move(start));
  }
  for (const auto& start : search.starts) {
    if (!any && !space.feasible(start))
      throw InputError(fmt::format("the start {} violates the constraints; change the start or the constraints",
                                   sentence_for(space, start)));
    if (std::ranges::find(starts, start) == starts.end()) starts.push_back(start);
  }
  if (optimizer->begins_at_start()) {
    auto own = searched.start();
    searched.rest_inactive(own);
    std::erase(starts, own);
  }
  if (!space.constraints().empty() && !any && !is_chain(search.optimizer))  // each link does this itself
    optimizer = feasible_only(std::move(optimizer), space);
  if (!starts.empty()) optimizer = starting_with(std::move(optimizer), std::move(starts));
  return optimizer;
}

}  // namespace culmen
