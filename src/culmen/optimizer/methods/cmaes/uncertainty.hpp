// Whether noise decides what a CMA-ES run learns.
#pragma once
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "culmen/optimizer/parts/standing.hpp"

namespace culmen::cmaes {

enum class Noise : unsigned char { automatic, on, off };

/// Hansen, Niederberger, Guzzella and Koumoutsakos, "A method for handling uncertainty in evolutionary optimization
/// with an application to feedback control of combustion" (IEEE Trans. Evol. Comput. 13 (2009) 180): some members are
/// evaluated twice, and noise decides where their ranks change by more than a limit. Every other generation a tenth of
/// the members is, at least one, in place of as many others. Automatic: in the first generation of all one member is,
/// and no more are where both values are equal. Where noise decides and values come down no more, a run is over: by
/// measurement that is better than more members at the same place.
class Uncertainty {
 public:
  explicit Uncertainty(Noise noise) : noise_(noise) {}

  /// A generation of so many members begins, of which the first few are to be evaluated twice: gives how many.
  std::size_t begin_generation(std::size_t members);
  /// Member k's second evaluation; none: it was cancelled.
  void tell(std::size_t k, std::optional<Standing> standing) { second_[k] = standing; }
  /// All are told. Members that were evaluated twice count for the mean of both values from now on.
  void end_generation(std::vector<std::optional<Standing>>& members);
  /// Noise has decided for some time, and values come down no more.
  bool dominates() const;
  /// What was seen is of another population.
  void forget() { in_a_row_ = 0, measure_ = 0, medians_.clear(); }

 private:
  static constexpr unsigned patience = 5;  // generations with a measure

  Noise noise_;
  bool decided_ = false;
  std::size_t generation_ = 0;
  std::vector<std::optional<Standing>> second_;
  double measure_ = 0;  // smoothed; above 0: ranks change too much
  unsigned in_a_row_ = 0;
  std::deque<double> medians_;  // of values, of the last generations
};

}  // namespace culmen::cmaes
