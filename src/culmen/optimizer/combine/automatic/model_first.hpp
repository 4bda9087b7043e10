// How "auto" divides evaluations among optimizers of parameters of every kind.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "culmen/optimizer/combine/automatic/portfolio.hpp"

namespace culmen::automatic {

/// A model of all parameters leads: with few evaluations it learns which choices matter. The first 30 + 5 n evaluations
/// are the model's alone. Then searches without a model join, because the model may have settled on a branch too early.
/// The member that found the best value gets half of the evaluations from then on. The others share the rest, and all
/// hear of a new best. After 100 n evaluations the model gets at most a tenth.
class ModelFirst final : public Effort {
 public:
  /// Makes the searches that join, given the best vector so far.
  using Join = std::function<std::vector<Member>(const std::vector<double>& best)>;

  /// The number of evaluations that only the model gets.
  static std::uint64_t lead(std::size_t n) { return 30 + 5 * n; }
  /// For n parameters. At first there is one member, the model.
  ModelFirst(std::size_t n, Join join);

  std::size_t next(std::vector<Member>& members) override;
  void learn(std::vector<Member>& members, std::size_t member, const std::vector<double>& x,
             const Outcome& outcome) override;

 private:
  static constexpr std::size_t model = 0;
  /// The best result that was told since the last turn, if it is better than all before.
  struct News {
    std::size_t member;
    Outcome outcome;
    std::vector<double> x;
  };
  void spread(std::vector<Member>& members);
  double share(std::size_t member, std::size_t members, bool late) const;

  const std::uint64_t lead_, late_;
  const Join join_;
  std::size_t holder_ = model;  // the member that found the best
  Outcome best_ = Outcome::failure(Status::failed, {});
  std::vector<double> best_x_;
  std::optional<News> news_;
  std::vector<double> spent_;           // by member: evaluations beyond its share
  std::vector<std::uint64_t> counted_;  // by member: evaluations counted so far
};

}  // namespace culmen::automatic
