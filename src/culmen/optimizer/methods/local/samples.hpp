// The starting points of searches, and the minima that these have found.
#pragma once
#include <Eigen/Dense>
#include <cstdint>
#include <optional>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/parts/sobol_sequence.hpp"

namespace culmen::local {

struct Sample {
  Eigen::VectorXd x;  ///< in the unit cube
  double value = 0;
  bool used = false;  ///< a search began or ended here
};

/// Evaluated points of a Sobol sequence; if this has too few dimensions, the points are independent. A search starts at
/// a point that has no better point within the critical distance of multi-level single linkage (Rinnooy Kan and Timmer,
/// Mathematical Programming 39 (1987) 57). Known minima count as better points. It keeps the best few hundred.
class Samples {
 public:
  Samples(std::size_t dimensions, std::uint64_t seed);
  Eigen::VectorXd fresh();
  /// Adds an evaluated point, unless its evaluation failed.
  void add(const Eigen::VectorXd& x, double value);
  /// A search ended here.
  void add_minimum(const Eigen::VectorXd& x, double value);
  /// The best point from which a search should start; it will not be taken again. anyway: if all points are too close
  /// to a better one, take the best one that is left.
  std::optional<Sample> take(bool anyway);

 private:
  void keep(Sample sample);
  double critical_distance() const;

  Eigen::Index dimensions_;
  Random random_;
  std::optional<SobolSequence> sequence_;
  std::vector<Sample> known_;  // best first
  std::uint64_t count_ = 0;
};

}  // namespace culmen::local
