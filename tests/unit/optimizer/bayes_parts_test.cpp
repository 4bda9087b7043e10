// Bayesian optimization: the process, its likelihood, the acquisition, what is kept.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/methods/bayes/archive.hpp"
#include "culmen/optimizer/methods/bayes/forest.hpp"
#include "culmen/optimizer/methods/bayes/gaussian_process.hpp"
#include "culmen/optimizer/methods/bayes/improvement.hpp"
#include "culmen/optimizer/methods/bayes/region.hpp"

namespace culmen {
namespace {
using bayes::GaussianProcess;
using bayes::Hyperparameters;
using Eigen::VectorXd;

constexpr double nothing = -80;  // a logarithm

/// With a length that makes them independent, each value shrinks by 1 / (1 + noise) where it was measured.
TEST(GaussianProcess, has_the_posterior_of_independent_points) {
  Eigen::MatrixXd points(3, 1);
  points << 0, 1, 2;
  const VectorXd values = (VectorXd(3) << 1, -2, 4).finished();
  GaussianProcess process(points, values, {1});
  process.set({VectorXd::Constant(1, -5), 0, nothing, std::log(0.25)});
  for (int k = 0; k < 3; ++k) {
    const auto p = process.posterior(points.row(k).transpose(), false);
    EXPECT_NEAR(p.mean, values[k] / 1.25, 1e-8);
    EXPECT_NEAR(p.variance, 1 - 1 / 1.25, 1e-8);
  }
  const auto between = process.posterior(VectorXd::Constant(1, 0.5), false);
  EXPECT_NEAR(between.mean, 0, 1e-8);
  EXPECT_NEAR(between.variance, 1, 1e-8);
}

/// Three points, where c is the covariance of neighbours and d that of the ends. By Cramer's rule, for the symmetric
/// values 0, 1, 0, the mean in the middle is 1, and at 0.5 it is k'K⁻¹y.
TEST(GaussianProcess, has_the_posterior_of_three_points_solved_by_hand) {
  const auto k = [](double r) {
    const double s = std::sqrt(5.0) * r;
    return (1 + s + s * s / 3) * std::exp(-s);
  };
  const double c = k(1), d = k(2);
  // K⁻¹ of the middle column: the ends are equal (u), u (1 + d) + v c = 0 and 2 u c + v = 1.
  const double v = 1 / (1 - 2 * c * c / (1 + d)), u = -v * c / (1 + d);
  const double expected = u * (k(0.5) + k(1.5)) + v * k(0.5);
  Eigen::MatrixXd points(3, 1);
  points << -1, 0, 1;
  GaussianProcess process(points, (VectorXd(3) << 0, 1, 0).finished(), {1});
  process.set({VectorXd::Zero(1), 0, nothing, nothing});
  EXPECT_NEAR(process.posterior(VectorXd::Constant(1, 0.5), false).mean, expected, 1e-8);
  EXPECT_NEAR(process.posterior(VectorXd::Zero(1), false).mean, 1, 1e-8);
  EXPECT_NEAR(process.posterior(VectorXd::Zero(1), false).variance, 0, 1e-8);
}

struct Sample {
  Eigen::MatrixXd points{12, 3};
  VectorXd values{12};
  std::vector<char> ordered{1, 1, 0};
  Sample() {
    Random random(3);
    for (int k = 0; k < 12; ++k) {
      points.row(k) << random.uniform() - 0.5, random.uniform() - 0.5, static_cast<double>(random.below(3));
      values[k] = random.normal();
    }
  }
};

TEST(GaussianProcess, has_the_slopes_of_its_likelihood) {
  const Sample sample;
  const GaussianProcess process(sample.points, sample.values, sample.ordered);
  const VectorXd at = (VectorXd(6) << -0.5, 0.3, 0.1, 0.2, -0.7, -2).finished();
  VectorXd slope;
  process.loss(Hyperparameters::unpacked(at), &slope);
  for (int k = 0; k < at.size(); ++k) {
    VectorXd up = at, down = at;
    up[k] += 1e-5;
    down[k] -= 1e-5;
    const double difference = (process.loss(Hyperparameters::unpacked(up), nullptr) -
                               process.loss(Hyperparameters::unpacked(down), nullptr)) /
                              2e-5;
    EXPECT_NEAR(slope[k], difference, 1e-6) << k;
  }
}

TEST(GaussianProcess, has_the_slopes_of_its_posterior) {
  const Sample sample;
  GaussianProcess process(sample.points, sample.values, sample.ordered);
  process.set(Hyperparameters::unpacked((VectorXd(6) << -0.5, 0.3, 0.1, 0.2, -0.7, -2).finished()));
  const VectorXd at = (VectorXd(3) << 0.1, -0.2, 1).finished();
  const auto p = process.posterior(at, true);
  for (int k = 0; k < 2; ++k) {
    VectorXd up = at, down = at;
    up[k] += 1e-5;
    down[k] -= 1e-5;
    const auto a = process.posterior(up, false), b = process.posterior(down, false);
    EXPECT_NEAR(p.mean_slope[k], (a.mean - b.mean) / 2e-5, 1e-7);
    EXPECT_NEAR(p.variance_slope[k], (a.variance - b.variance) / 2e-5, 1e-7);
  }
  EXPECT_EQ(p.mean_slope[2], 0);
}

TEST(GaussianProcess, gains_a_point_as_if_it_had_had_it_all_along) {
  const Sample sample;
  const auto at = Hyperparameters::unpacked((VectorXd(6) << -0.5, 0.3, 0.1, 0.2, -0.7, -2).finished());
  GaussianProcess whole(sample.points, sample.values, sample.ordered);
  GaussianProcess grown(sample.points.topRows(10), sample.values.head(10), sample.ordered);
  whole.set(at);
  grown.set(at);
  for (int k = 10; k < 12; ++k) grown.extend(sample.points.row(k).transpose(), sample.values[k]);
  const VectorXd x = (VectorXd(3) << 0.1, -0.2, 1).finished();
  const auto a = whole.posterior(x, true), b = grown.posterior(x, true);
  EXPECT_NEAR(a.mean, b.mean, 1e-9);
  EXPECT_NEAR(a.variance, b.variance, 1e-9);
  EXPECT_LT((a.variance_slope - b.variance_slope).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(GaussianProcess, says_the_same_of_many_points_as_of_each) {
  const Sample sample;
  GaussianProcess process(sample.points, sample.values, sample.ordered);
  // With noise of this size the weights of the points stay near 1, and so do the terms that both ways round.
  process.set(Hyperparameters::unpacked((VectorXd(6) << -0.5, 0.3, 0.1, 0.2, -0.7, -2).finished()));
  const Eigen::MatrixXd at = 0.5 * sample.points.topRows(5).array() + 0.1;
  const auto many = process.posteriors(at);
  for (int k = 0; k < 5; ++k) {
    const auto one = process.posterior(at.row(k).transpose(), false);
    EXPECT_NEAR(many(k, 0), one.mean, 1e-12);
    EXPECT_NEAR(many(k, 1), one.variance, 1e-12);
  }
}

/// Between a step's two sides in x, whatever y and the choice are.
struct Step {
  double before, after, sure;  // the farthest mean from -1 and from 1, and the largest variance, far from the step
  double least, most, unsure;  // of means, and the largest variance, across the step
};

Step step_learnt(std::uint64_t seed) {
  Random random(seed);
  Eigen::MatrixXd points(200, 3);
  VectorXd values(200);
  for (int k = 0; k < 200; ++k) {
    points.row(k) << random.uniform(), random.uniform(), (static_cast<double>(random.below(4)) + 0.5) / 4;
    values[k] = points(k, 0) < 0.5 ? -1 : 1;
  }
  const bayes::Forest forest(points, values, {1, 1, 0}, seed);
  const auto at = [&](double x, double y, double choice) {
    return forest.at((VectorXd(3) << x, y, choice).finished());
  };
  Step out{0, 0, at(0.2, 0.3, 0.125).variance, 1, -1, 0};
  for (const double choice : {0.125, 0.375, 0.625, 0.875}) {
    out.before = std::max(out.before, std::abs(at(0.2, 0.3, choice).mean + 1));
    out.after = std::max(out.after, std::abs(at(0.8, 0.9, choice).mean - 1));
  }
  for (double x = 0.4; x < 0.6; x += 0.002) {
    const auto p = at(x, 0.5, 0.125);
    out.least = std::min(out.least, p.mean), out.most = std::max(out.most, p.mean);
    out.unsure = std::max(out.unsure, p.variance);
  }
  return out;
}

/// A single forest may have few points at this y and choice; medians of 12 sets of seeds were at most 0.05 away.
TEST(Forest, learns_a_step_and_where_it_is_not_sure) {
  std::vector<Step> all;
  for (std::uint64_t seed = 1; seed <= 21; ++seed) all.push_back(step_learnt(seed));
  const auto median = [&](double Step::*figure) {
    std::ranges::nth_element(all, all.begin() + 10, {}, figure);
    return all[10].*figure;
  };
  EXPECT_LT(median(&Step::before), 0.1);
  EXPECT_LT(median(&Step::after), 0.1);
  EXPECT_LT(median(&Step::sure), 0.2);
  EXPECT_NEAR(median(&Step::least), -1, 0.2);
  EXPECT_NEAR(median(&Step::most), 1, 0.2);
  EXPECT_GT(median(&Step::unsure), 0.5);
}

TEST(Forest, tells_choices_apart_by_equality_alone) {
  Eigen::MatrixXd points(40, 1);
  VectorXd values(40);
  const double best = 0.375, of[] = {3, -2, 3, 3};
  for (int k = 0; k < 40; ++k) {
    points(k, 0) = (k % 4 + 0.5) / 4;
    values[k] = of[k % 4];
  }
  const bayes::Forest forest(points, values, {0}, 1);
  for (int k = 0; k < 4; ++k) {
    const double at = (k + 0.5) / 4;
    EXPECT_NEAR(forest.at(VectorXd::Constant(1, at)).mean, at == best ? -2 : 3, 1e-9);
  }
}

TEST(LogImprovement, is_the_logarithm_of_the_integral) {
  for (const double best : {-3.0, 0.0, 1.5}) {
    const double mean = 0.5, deviation = 0.7, h = 1e-4;
    double integral = 0;
    for (double y = best - 12; y < best; y += h) {
      const double middle = y + h / 2, z = (middle - mean) / deviation;
      integral += h * (best - middle) * std::exp(-0.5 * z * z) / (deviation * std::sqrt(2 * std::numbers::pi));
    }
    EXPECT_NEAR(bayes::log_improvement(best, mean, deviation).logarithm, std::log(integral), 1e-3) << best;
  }
}

TEST(LogImprovement, is_the_logarithm_of_the_formula) {
  const double best = 1, mean = 1.5, deviation = 0.7, z = (best - mean) / deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  const double expected = (best - mean) * 0.5 * std::erfc(-z / std::numbers::sqrt2) + deviation * density;
  EXPECT_NEAR(bayes::log_improvement(best, mean, deviation).logarithm, std::log(expected), 1e-12);
}

TEST(LogImprovement, has_no_seams_and_its_slopes_hold) {
  for (const double z : {3.0, 0.0, -0.999999, -1.000001, -5.0, -9.999, -10.001, -100.0, -1e5}) {
    const auto at = bayes::log_improvement(z, 0, 1);
    const double h = 1e-6 * std::max(1.0, std::abs(z));
    const double by_mean =
        (bayes::log_improvement(z, h, 1).logarithm - bayes::log_improvement(z, -h, 1).logarithm) / (2 * h);
    EXPECT_NEAR(at.by_mean, by_mean, 1e-3 * std::max(1.0, std::abs(by_mean))) << z;
    EXPECT_TRUE(std::isfinite(at.logarithm)) << z;
  }
  EXPECT_NEAR(bayes::log_improvement(-10 + 1e-9, 0, 1).logarithm, bayes::log_improvement(-10 - 1e-9, 0, 1).logarithm,
              1e-4);
}

TEST(Archive, keeps_no_more_than_its_cap_and_the_best_among_them) {
  bayes::Archive archive(40);
  Random random(1);
  double best = 1e300;
  for (int k = 0; k < 5000; ++k) {
    const double value = random.normal();
    best = std::min(best, value);
    archive.add(bayes::Point::of(VectorXd::Constant(2, random.uniform()), Outcome::of_value(value)));
    ASSERT_LE(archive.points().size(), 45U);
    ASSERT_EQ(archive.points()[archive.best()].value, best);
  }
}

TEST(ModelValues, do_not_change_with_origin_and_scale_and_rank_failures_last) {
  for (std::size_t compression = 0; compression < bayes::compressions.size(); ++compression) {
    std::vector<bayes::Point> points, others;
    for (const double v : {3.0, -1.0, 1e6, 0.5, 2.0}) {
      points.push_back(bayes::Point::of(VectorXd::Zero(1), Outcome::of_value(v)));
      others.push_back(bayes::Point::of(VectorXd::Zero(1), Outcome::of_value(1024 * v + 4096)));
    }
    const bayes::ModelValues all(points, compression);
    EXPECT_LT((all.values() - bayes::ModelValues(others, compression).values()).cwiseAbs().maxCoeff(), 1e-9);
    for (int k = 0; k < 5; ++k)
      EXPECT_NEAR(all.objective(all.values()[k]), points[static_cast<std::size_t>(k)].value, 1e-6);
    auto violated = Outcome::of_value(-100);
    violated.violation = 1;
    points.push_back(bayes::Point::of(VectorXd::Zero(1), violated));
    points.push_back(bayes::Point::of(VectorXd::Zero(1), Outcome::failure(Status::failed, "")));
    const auto values = bayes::ModelValues(points, compression).values();
    EXPECT_GT(values[5], values.head(5).maxCoeff());
    EXPECT_GT(values[6], values[5]);
  }
}

/// Values 0 to 10, compressed from the middle one, 5, on: of w = log(1 + v) for v = (f - 5) / 5 > 0 the slope is 1/(1 +
/// v).
TEST(ModelValues, say_how_much_they_were_stretched) {
  std::vector<bayes::Point> points;
  for (int k = 0; k <= 10; ++k) points.push_back(bayes::Point::of(VectorXd::Zero(1), Outcome::of_value(k)));
  const auto slopes = [&](std::size_t compression) {
    const bayes::ModelValues values(points, compression);
    double sum = 0;  // of the logarithms of d objective / d value, less that of the unit, 10
    for (int k = 0; k <= 10; ++k) {
      const double v = values.values()[k], h = 1e-6 * (k == 5 ? -1 : 1);
      sum += std::log((values.objective(v + h) - values.objective(v)) / h / 10);
    }
    return sum - values.log_stretch();
  };
  EXPECT_NEAR(slopes(0), 0, 1e-4);
  EXPECT_NEAR(slopes(1), 0, 1e-4);
}

TEST(Region, halves_after_failures_in_a_row_and_doubles_after_three_successes) {
  bayes::Region region(4);
  const double begin = region.side();
  const auto note = [&](bool success, int times) {
    for (int k = 0; k < times; ++k) region.note(success);
    return region.side() / begin;
  };
  EXPECT_EQ(note(false, 3), 1);
  EXPECT_EQ(note(true, 1), 1);
  EXPECT_EQ(note(false, 3), 1) << "not in a row";
  EXPECT_EQ(note(false, 1), 0.5);
  EXPECT_EQ(note(true, 3), 1);
  EXPECT_FALSE(region.spent());
  note(false, 100);
  EXPECT_TRUE(region.spent());
}
}  // namespace
}  // namespace culmen
