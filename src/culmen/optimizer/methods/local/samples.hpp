// Where searches begin, and what they have found.
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

/// Evaluated points of a Sobol sequence (independent ones where that has too few dimensions), of which searches begin
/// at those from which no better one lies within the critical distance of multi-level single linkage (Rinnooy Kan and
/// Timmer, Mathematical Programming 39 (1987) 57); found minima count among the better ones. Keeps the best few
/// hundred.
class Samples {
 public:
  Samples(std::size_t dimensions, std::uint64_t seed);
  Eigen::VectorXd fresh();
  /// One that was evaluated; not where that failed.
  void add(const Eigen::VectorXd& x, double value);
  /// Where a search ended.
  void add_minimum(const Eigen::VectorXd& x, double value);
  /// The best from which a search should begin; it will not be taken again. anyway: the best that is left where none
  /// keeps the distance.
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
