// Optimizers beside each other on one problem.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/optimizer/parts/inner_jobs.hpp"

namespace culmen::automatic {

/// One of them, and what came of it.
struct Member {
  std::string name;
  std::unique_ptr<Optimizer> optimizer;
  std::uint64_t asked = 0, settled = 0;
  Outcome best = Outcome::failure(Status::failed, {});  ///< of its own
  std::vector<double> best_x = {};
};

/// Who is asked next. A rule over what Portfolio counts; it has no randomness.
class Effort {
 public:
  virtual ~Effort() = default;
  /// The member whose turn it is. It may add members at the end.
  virtual std::size_t next(std::vector<Member>& members) = 0;
  /// A member's candidate came to this.
  virtual void learn(std::vector<Member>& members, std::size_t member, const std::vector<double>& x,
                     const Outcome& outcome) = 0;
  /// Not called where the terms are generational.
  virtual void resize(std::size_t /*workers*/) {}
  /// A clause for people, or nothing.
  virtual std::string remark(const std::vector<Member>& members) const = 0;
};

/// Where the terms are generational, turns follow each other: a turn is all that a member can give before it is told
/// more, and with `parallel` > 1 that of further members until there are so many candidates; a turn begins when the one
/// before has been told and no member's job is out. Else each candidate is of the member whose turn it is then.
class Portfolio final : public Optimizer {
 public:
  /// Members that are asynchronous exactly where `generational` is false.
  Portfolio(std::string name, std::vector<Member> members, std::unique_ptr<Effort> effort, std::size_t parallel,
            bool generational);
  bool generational() const override { return generational_; }
  bool begins_at_start() const override { return true; }
  std::string name() const override { return name_; }
  std::string remark() const override { return effort_->remark(members_); }
  /// Of the first member that has one.
  std::optional<Recommendation> recommendation() const override;
  void resize(std::size_t workers) override;
  void hear(const std::vector<double>& x, const Outcome& outcome) override;

 private:
  struct Given {
    std::size_t member;
    EvaluationId inner;
    std::vector<double> x;
  };

  void do_ask(std::size_t n, std::vector<Candidate>& out) override;
  void do_tell(EvaluationId id, const Outcome& outcome) override;
  void do_cancel(EvaluationId id) override;
  std::function<Bytes()> do_job() override { return jobs_.next(); }
  void do_adopt(const Bytes& result) override { jobs_.adopt(result); }
  std::size_t next();
  void welcome();
  void begin_turn();
  std::size_t fill(std::size_t member, std::size_t n);
  Given close(EvaluationId id);
  void learn(const Given& given, const Outcome& outcome);
  void end_turn();

  const std::string name_;
  std::vector<Member> members_;
  std::size_t welcomed_ = 0;  // members that have been told of jobs and workers
  InnerJobs jobs_;
  std::unique_ptr<Effort> effort_;
  const std::size_t parallel_;
  const bool generational_;
  std::size_t workers_ = 0;
  EvaluationId next_ = 0, served_ = 0;
  std::unordered_map<EvaluationId, Given> open_;            // given by members, whether served or not
  std::map<EvaluationId, std::pair<Given, Outcome>> told_;  // of this generational turn
  std::vector<Candidate> asked_;
};

}  // namespace culmen::automatic
