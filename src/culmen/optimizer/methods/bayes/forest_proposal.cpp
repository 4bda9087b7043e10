// Proposals by a forest (SMAC: Hutter, Hoos and Leyton-Brown, LION 5 (2011)): expected improvement over the whole
// space. A local search among neighbours that differ in one parameter starts from the best points and from random ones.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "culmen/optimizer/methods/bayes/forest.hpp"
#include "culmen/optimizer/methods/bayes/improvement.hpp"
#include "culmen/optimizer/methods/bayes/proposal.hpp"

namespace culmen::bayes {
namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t compression = 1;  // index: values above the median are compressed
constexpr std::size_t forest_draws = 300, starts = 8, most_moves = 30;
constexpr std::size_t steps = 4, most_choices = 8;  // neighbours by one parameter
constexpr double step = 0.2;                        // standard deviation of neighbours in a number
constexpr double same_unit = 1e-9;                  // of two unit vectors

class ForestAdvice {
 public:
  explicit ForestAdvice(const Question& question) : question_(question), random_(question.seed) {
    const auto& all = question.points;
    points_.resize(static_cast<Index>(all.size()), all.front().unit.size());
    for (std::size_t k = 0; k < all.size(); ++k) points_.row(static_cast<Index>(k)) = all[k].unit.transpose();
    values_ = ModelValues(all, compression).values();
    least_ = values_.minCoeff();
    forest_.emplace(grown());
  }

  Proposal proposal() {
    believe(question_.pending);
    Proposal out;
    out.hyperparameters = question_.from;
    while (out.units.size() < question_.wanted) {
      out.units.push_back(next());
      if (out.units.size() < question_.wanted) believe({out.units.back()});
    }
    return out;
  }

 private:
  struct Found {
    double gain;
    VectorXd unit;
  };

  Forest grown() { return {points_, values_, ordered(question_.space), random_.next()}; }

  void believe(const std::vector<VectorXd>& units) {
    if (units.empty()) return;
    const Index before = points_.rows(), after = before + static_cast<Index>(units.size());
    points_.conservativeResize(after, Eigen::NoChange);
    values_.conservativeResize(after);
    for (Index k = before; k < after; ++k) {
      const auto& unit = units[static_cast<std::size_t>(k - before)];
      points_.row(k) = unit.transpose();
      values_[k] = forest_->at(unit).mean;
    }
    forest_.emplace(grown());
  }

  Found judged(VectorXd unit) const {
    const auto p = forest_->at(unit);
    return {log_improvement(least_, p.mean, std::sqrt(p.variance)).logarithm, std::move(unit)};
  }

  VectorXd next() {
    std::vector<Found> found;
    for (std::size_t k = 0; k < forest_draws; ++k) found.push_back(judged(anywhere(question_.space, random_)));
    const auto more = [](const Found& a, const Found& b) { return a.gain > b.gain; };
    std::ranges::stable_sort(found, more);
    const auto order = ascending(values_);
    for (std::size_t k = 0; k < starts; ++k) {
      if (k < order.size()) climb(judged(points_.row(order[k]).transpose()), found);
      climb(found[k], found);
    }
    std::ranges::stable_sort(found, more);
    for (const auto& f : found)
      if (!contains(points_, f.unit, same_unit)) return f.unit;
    return anywhere(question_.space, random_);
  }

  /// Appends the points on its way and the neighbours of its end, because the end itself may be known already.
  void climb(Found at, std::vector<Found>& found) {
    for (std::size_t k = 0; k < most_moves; ++k) {
      auto around = neighbours(at.unit);
      if (around.empty()) return;
      const auto best = std::ranges::max_element(around, {}, &Found::gain);
      if (best->gain <= at.gain) {
        found.insert(found.end(), around.begin(), around.end());
        break;
      }
      at = *best;
    }
    found.push_back(std::move(at));
  }

  std::vector<Found> neighbours(const VectorXd& unit) {
    std::vector<Found> out;
    for (Index i = 0; i < unit.size(); ++i) {
      const auto& p = question_.space[static_cast<std::size_t>(i)];
      const bool choices = p.kind == ParameterKind::categorical || (p.discrete() && p.cells() <= 2);
      const double cells = p.discrete() ? p.cells() : 0;
      const auto many = choices ? std::min(static_cast<std::size_t>(cells), most_choices) : steps;
      const auto first = choices ? static_cast<double>(random_.below(static_cast<std::uint64_t>(cells))) : 0;
      for (std::size_t k = 0; k < many; ++k) {
        VectorXd other = unit;
        if (choices) other[i] = (std::fmod(first + static_cast<double>(k), cells) + 0.5) / cells;
        else other[i] += random_.normal() * std::max(k % 2 == 0 ? step : 0.1 * step, p.discrete() ? 1 / cells : 0.0);
        other[i] = std::clamp(other[i], 0.0, 1.0);
        other = settled(question_.space, other);
        if (other != unit) out.push_back(judged(std::move(other)));
      }
    }
    return out;
  }

  const Question& question_;
  Random random_;
  MatrixXd points_;
  VectorXd values_;
  double least_ = 0;
  std::optional<Forest> forest_;
};
}  // namespace

Proposal propose_by_forest(const Question& question) { return ForestAdvice(question).proposal(); }

}  // namespace culmen::bayes
