// Whether noise dominates what a CMA-ES run learns.
#pragma once
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "culmen/optimizer/parts/standing.hpp"

namespace culmen::cmaes {

enum class Noise : unsigned char { automatic, on, off };

/// Hansen, Niederberger, Guzzella and Koumoutsakos, "A method for handling uncertainty in evolutionary optimization
/// with an application to feedback control of combustion" (IEEE Trans. Evol. Comput. 13 (2009) 180). Some members are
/// evaluated twice. Noise dominates if their ranks change by more than a limit. Every other generation evaluates a
/// tenth of the members twice, at least one, instead of as many others. Automatic: the very first generation evaluates
/// one member twice; if both values are equal, it does no more of this. A run is over if noise dominates and values no
/// longer fall. Tests showed that this is better than more members at the same place.
class Uncertainty {
 public:
  explicit Uncertainty(Noise noise) : noise_(noise) {}

  /// A generation of `members` begins. Returns how many of the first ones are to be evaluated twice.
  std::size_t begin_generation(std::size_t members);
  /// The second evaluation of member k; none: it was cancelled.
  void tell(std::size_t k, std::optional<Standing> standing) { second_[k] = standing; }
  /// All were told. Members that were evaluated twice now have the mean of both values.
  void end_generation(std::vector<std::optional<Standing>>& members);
  /// Whether noise has dominated for some time and values no longer fall.
  bool dominates() const;
  /// The population changed: forgets what was seen.
  void forget() { in_a_row_ = 0, measure_ = 0, medians_.clear(); }

 private:
  static constexpr unsigned patience = 5;  // in generations with a measure

  Noise noise_;
  bool decided_ = false;
  std::size_t generation_ = 0;
  std::vector<std::optional<Standing>> second_;
  double measure_ = 0;  // smoothed; above 0: ranks change too much
  unsigned in_a_row_ = 0;
  std::deque<double> medians_;  // of the values of the last generations
};

}  // namespace culmen::cmaes
