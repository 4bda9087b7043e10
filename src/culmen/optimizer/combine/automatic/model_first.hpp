// How "auto" shares evaluations out among optimizers of parameters of every kind.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "culmen/optimizer/combine/automatic/portfolio.hpp"

namespace culmen::automatic {

/// A model of all parameters leads: it finds out with the fewest evaluations which choices matter, and where. It has
/// the first 30 + 5 n evaluations alone; then searches that need no model join, which do not settle for a branch that
/// the model has taken too early. Whoever found the present best has half of the evaluations from then on, the others
/// share the rest, and all hear of a new best. After 100 n evaluations the model has no more than a tenth.
class ModelFirst final : public Effort {
 public:
  /// Makes the searches that join, given the best vector so far.
  using Join = std::function<std::vector<Member>(const std::vector<double>& best)>;

  /// Evaluations that the model has alone.
  static std::uint64_t lead(std::size_t n) { return 30 + 5 * n; }
  /// n parameters. One member at first, the model.
  ModelFirst(std::size_t n, Join join);

  std::size_t next(std::vector<Member>& members) override;
  void learn(std::vector<Member>& members, std::size_t member, const std::vector<double>& x,
             const Outcome& outcome) override;
  std::string remark(const std::vector<Member>& members) const override;

 private:
  static constexpr std::size_t model = 0;
  /// The best that was told since the last turn, where it is better than all before.
  struct News {
    std::size_t member;
    Outcome outcome;
    std::vector<double> x;
  };
  void spread(std::vector<Member>& members);
  double share(std::size_t member, std::size_t members, bool late) const;

  const std::uint64_t lead_, late_;
  const Join join_;
  std::size_t holder_ = model;  // of the best
  Outcome best_ = Outcome::failure(Status::failed, {});
  std::vector<double> best_x_;
  std::optional<News> news_;
  std::vector<double> spent_;           // evaluations over the share that held for each, by member
  std::vector<std::uint64_t> counted_;  // of each member's evaluations
};

}  // namespace culmen::automatic
