#include "culmen/optimizer/methods/local/axis_search.hpp"

#include <algorithm>
#include <cmath>

#include "culmen/optimizer/methods/local/axis.hpp"

namespace culmen::local {
namespace {
constexpr double rounding_steps = 4;

class AxisSearch final : public LocalSearch {
 public:
  explicit AxisSearch(const Start& start) : LocalSearch(start), noise_(start.noise), z_(start.x) {
    for (const double u : z_) axes_.emplace_back(u, start.edition >= Edition::third);
    if (!start.value) return;
    here_ = *start.value;
    known_ = true;
    over_ = !std::isfinite(here_);
    plan();
  }

  void propose(std::vector<Eigen::VectorXd>& points) override {
    if (!known_) return points.push_back(z_);
    if (joining_) return points.push_back(joint());
    for (const auto& step : steps_) {
      points.push_back(z_);
      points.back()[step.axis] = step.place;
    }
  }

  void digest(const std::vector<double>& values) override {
    if (joining_) {
      join(values.front());
    } else if (!known_) {
      known_ = true;
      here_ = values.front();
      note(z_, here_);
      over_ = !std::isfinite(here_);
    } else {
      learn(values);
    }
    if (!over_ && !joining_) plan();
  }

  bool over() const override { return over_; }

 private:
  struct Step {
    Eigen::Index axis;
    double place;
  };

  double rounding() const { return rounding_steps * noise_ * std::abs(here_); }
  Axis& axis(Eigen::Index i) { return axes_[static_cast<std::size_t>(i)]; }

  Eigen::VectorXd joint() const {
    Eigen::VectorXd x = z_;
    for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = axes_[static_cast<std::size_t>(i)].best();
    return x;
  }

  void plan() {
    steps_.clear();
    for (Eigen::Index i = 0; i < z_.size(); ++i) {
      if (const auto place = axis(i).next(rounding())) steps_.push_back({i, *place});
    }
    over_ |= steps_.empty();
  }

  void learn(const std::vector<double>& values) {
    std::size_t better = 0;
    double change = 0;
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      const auto [i, place] = steps_[k];
      const double value = std::isfinite(values[k]) ? values[k] - here_ : std::numeric_limits<double>::infinity();
      axis(i).add(place, value);
      Eigen::VectorXd x = z_;
      x[i] = place;
      note(x, values[k]);
      if (axis(i).least() < 0) ++better, change += axis(i).least();
    }
    if (better > 1) {
      joining_ = true;
      expected_ = change;
    } else if (better == 1) {
      move(here_ + change);
    }
  }

  void move(double value) {
    z_ = joint();
    here_ = value;
    for (auto& a : axes_) a.move_to_best();
  }

  void join(double value) {
    joining_ = false;
    const double change = value - here_;
    note(joint(), value);
    if (!(change < 0) || std::abs(change - expected_) > 0.5 * std::abs(expected_) + rounding()) {
      over_ = true;
      return;
    }
    move(value);
  }

  const double noise_;
  Eigen::VectorXd z_;
  double here_ = 0;
  std::vector<Axis> axes_;
  std::vector<Step> steps_;
  double expected_ = 0;  // change of the value by all improvements together
  bool known_ = false, joining_ = false, over_ = false;
};
}  // namespace

std::unique_ptr<LocalSearch> axis_search(const Start& start) { return std::make_unique<AxisSearch>(start); }

}  // namespace culmen::local
