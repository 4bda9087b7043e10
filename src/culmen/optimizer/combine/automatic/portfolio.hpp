// Several optimizers on one problem, in parallel.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "culmen/optimizer/core/remembering.hpp"
#include "culmen/optimizer/parts/inner_jobs.hpp"

namespace culmen::automatic {

/// One of them, with its results.
struct Member {
  std::string name;
  std::unique_ptr<Optimizer> optimizer;
  std::uint64_t asked = 0, settled = 0;                 ///< settled: told or cancelled
  std::uint64_t told = 0;                               ///< told after an evaluation
  Outcome best = Outcome::failure(Status::failed, {});  ///< its own
  std::vector<double> best_x = {};
};

/// "NAME found the best value; evaluations: NAME 12, ...", in the order of the members. Members of the same name count
/// together. Without a success only the counts.
std::string found_and_counts(const std::vector<Member>& members);

/// Decides which member is asked next. It sees only what Portfolio counts, and uses no random numbers.
class Effort {
 public:
  virtual ~Effort() = default;
  /// The member whose turn it is. It may add members at the end.
  virtual std::size_t next(std::vector<Member>& members) = 0;
  /// Hears the outcome of a member's candidate.
  virtual void learn(std::vector<Member>& members, std::size_t member, const std::vector<double>& x,
                     const Outcome& outcome) = 0;
  /// Not called if the terms are generational.
  virtual void resize(std::size_t /*workers*/) {}
  /// A clause for people, or nothing.
  virtual std::string remark(const std::vector<Member>& members) const { return found_and_counts(members); }
};

/// A candidate that a member gave.
struct MemberCandidate {
  std::size_t member;
  EvaluationId inner;
  std::vector<double> x;
};

/// With generations, turns follow each other. A turn holds all candidates that a member can give before it must be told
/// more. If these are fewer than `parallel`, further members add theirs. The next turn begins when this one has been
/// told and no member's job is out. Without generations, each candidate comes from the member that Effort::next()
/// names.
class Portfolio final : public Remembering<MemberCandidate> {
 public:
  /// Every member must have this mode.
  Portfolio(std::string name, std::vector<Member> members, std::unique_ptr<Effort> effort, std::size_t parallel,
            Mode mode);
  Mode mode() const override { return mode_; }
  bool begins_at_start() const override { return true; }
  std::string name() const override { return name_; }
  std::string remark() const override { return effort_->remark(members_); }
  /// From the first member that has one.
  std::optional<Recommendation> recommendation() const override;
  void resize(std::size_t workers) override;
  void hear(const std::vector<double>& x, const Outcome& outcome) override;

 private:
  void do_ask(std::size_t n, Asked& out) override;
  void do_tell(EvaluationId id, MemberCandidate&& candidate, const Outcome& outcome) override;
  void do_cancel(EvaluationId id, MemberCandidate&& candidate) override;
  std::function<Bytes()> do_job() override { return jobs_.next(); }
  void do_adopt(const Bytes& result) override { jobs_.adopt(result); }
  std::size_t next();
  void welcome();
  void begin_turn();
  std::size_t fill(std::size_t member, std::size_t n);
  bool all_back() const { return turn_.empty() && memos().empty(); }
  void learn(const MemberCandidate& candidate, const Outcome& outcome);
  void end_turn();

  const std::string name_;
  std::vector<Member> members_;
  std::size_t welcomed_ = 0;  // members that have been told of jobs and workers
  InnerJobs jobs_;
  std::unique_ptr<Effort> effort_;
  const std::size_t parallel_;
  const Mode mode_;
  std::size_t workers_ = 0;
  std::deque<MemberCandidate> turn_;                                  // to be given
  std::map<EvaluationId, std::pair<MemberCandidate, Outcome>> told_;  // of this generational turn
  std::vector<Candidate> asked_;
};

}  // namespace culmen::automatic
