// The multivariate normal distribution of one CMA-ES run, and how it learns.
#pragma once
#include <Eigen/Dense>
#include <optional>
#include <span>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/methods/cmaes/constants.hpp"
#include "culmen/optimizer/methods/cmaes/limited_memory.hpp"
#include "culmen/optimizer/methods/cmaes/margin.hpp"

namespace culmen::cmaes {

/// The density from which a point was drawn, for the ratio of two densities.
struct Density {
  Eigen::VectorXd mean;
  Eigen::VectorXd lengths;    ///< sigma D
  Eigen::MatrixXd whitening;  ///< times (x - mean) / lengths: a standard normal vector; empty: no further factor
  std::optional<LimitedMemory> limited;  ///< used instead of `whitening` if set
  double log_volume;                     ///< logarithm of the determinant of the root of the covariance

  Eigen::VectorXd whitened(const Eigen::VectorXd& step) const;
  /// Logarithm of the density at x, up to a constant that is the same for all densities.
  double log_at(const Eigen::VectorXd& x) const { return -whitened(x - mean).squaredNorm() / 2 - log_volume; }
};

/// Which correlations a distribution learns: all, none, or a few directions.
enum class Correlations : unsigned char { full, none, limited };

/// N(mean, (sigma D)² C) in unbounded coordinates, D diagonal. The update is that of Hansen's tutorial
/// (arXiv:1604.00772v2), section 6, with active covariance. D learns in addition to C and faster (Akimoto and Hansen,
/// "Diagonal acceleration for covariance matrix adaptation evolution strategies", Evolutionary Computation 28 (2020)
/// 405).
///
/// A Margin gives discrete coordinates their least deviations. As in Marty et al., "LB+IC-CMA-ES" (PPSN 2024), a
/// coordinate that the margin holds takes no part in the step-size path. Members with a positive weight count from the
/// middle of their cell if the mean lies in another cell; if the margin holds the coordinate, all members do.
///
/// Without correlations C is the identity, and D learns as fast as in Ros and Hansen, "A simple modification in CMA-ES
/// achieving linear time and space complexity" (PPSN 2008). With limited correlations, LimitedMemory replaces the root
/// of C. In both cases memory and time are proportional to n.
class Distribution {
 public:
  /// If a coordinate is discrete, coordinates are those of a unit cube.
  Distribution(const Constants& constants, Eigen::VectorXd mean, double sigma, Margin margin = {},
               Correlations correlations = Correlations::full);

  /// From now on members outside the box are drawn again, at most twice. Each coordinate of the mean stays within two
  /// standard deviations of the box, or between the middles of the outermost cells. To repair a member that is still
  /// outside, use the nearest point of the box.
  void confine(Eigen::VectorXd lower, Eigen::VectorXd upper);

  /// Draws member k of the current generation. The reference is valid until the next call of sample() or place().
  const Eigen::VectorXd& sample(std::size_t k, Random& random);
  /// The squared norm of member k as a standard normal vector.
  double squared_norm(std::size_t k) const { return squared_norms_[static_cast<Eigen::Index>(k)]; }
  /// Makes x member k, whatever distribution it was drawn from. Its step is shortened if it is much longer than steps
  /// of the present distribution, as in Hansen, "Injecting external solutions into CMA-ES" (arXiv:1110.4181).
  void place(std::size_t k, const Eigen::VectorXd& x);
  Density density() const;
  /// Makes one generation's step. weights[k] is the weight of member k, by its rank; 0 leaves a member out. The
  /// positive ones sum to at most 1.
  void update(std::span<const double> weights) { update(weights, constants_.mueff); }
  /// mueff: 1 / the sum of the squared positive weights, if these differ from the constants'.
  void update(std::span<const double> weights, double mueff);

  const Constants& constants() const { return constants_; }
  const Eigen::VectorXd& mean() const { return mean_; }
  double sigma() const { return sigma_; }
  double deviation(std::size_t i) const;  ///< of coordinate i
  double path(std::size_t i) const;       ///< of coordinate i: sigma D pc
  /// Principal axis i with its length, in ascending order of length. Unless correlations are full: axis of coordinate
  /// i.
  Eigen::VectorXd axis(std::size_t i) const;
  double axis_ratio() const { return full() ? axes_[axes_.size() - 1] / axes_[0] : 1; }
  std::size_t generation() const { return generation_; }  ///< updates so far
  bool healthy() const {
    return healthy_;
  }  ///< false once the covariance is no longer positive definite or a number overflowed

 private:
  bool full() const { return correlations_ == Correlations::full; }
  void correlate(Eigen::Index first, Eigen::Index count);
  Eigen::VectorXd whitened(const Eigen::VectorXd& step) const;
  void draw(Eigen::Index first, Eigen::Index count, Random& random);
  void draw_again(Eigen::Index k, Random& random);
  double distance_outside(const Eigen::VectorXd& step) const;
  double mean_within(Eigen::Index i, double to) const;
  Eigen::VectorXd move_mean(const Eigen::VectorXd& weights);
  Eigen::VectorXd isotropic(const Eigen::VectorXd& weights, const Eigen::VectorXd& shift) const;
  void learn_covariance(const Eigen::VectorXd& weights, bool stalled);
  void learn_scaling(const Eigen::VectorXd& weights, bool stalled);
  void learn_sigma(double path_ratio);
  double free_path_ratio() const;
  void center(const Eigen::VectorXd& weights);
  void hold_margin();
  void whiten(Eigen::Index k);
  void decompose();

  Constants constants_;
  Correlations correlations_;
  std::optional<LimitedMemory> limited_;
  Eigen::VectorXd mean_;
  double sigma_;
  Margin margin_;
  Eigen::VectorXd lower_, upper_;  // empty: no box
  Eigen::VectorXd scaling_;        // D
  std::vector<char> held_;         // whether the margin holds the coordinate
  Eigen::MatrixXd covariance_;     // C; the lower triangle counts; this and what follows from it only where full
  Eigen::MatrixXd basis_;          // B: C = B diag(axes)² Bᵀ as of the last decomposition
  Eigen::VectorXd axes_;
  Eigen::MatrixXd root_;                          // B diag(axes) Bᵀ
  Eigen::VectorXd sigma_path_, covariance_path_;  // the latter times D
  Eigen::MatrixXd normals_, steps_;               // column k: the standard normal vector; (x_k - mean) / (sigma D)
  Eigen::VectorXd squared_norms_;                 // of the normals
  std::vector<char> drawn_;                       // drawn and not yet served
  bool drawn_ahead_ = false;                      // the whole generation was drawn since the last update
  Eigen::MatrixXd weighted_;                      // scratch memory
  Eigen::VectorXd point_;
  std::size_t generation_ = 0, decomposed_ = 0;
  bool healthy_ = true;
};

}  // namespace culmen::cmaes
