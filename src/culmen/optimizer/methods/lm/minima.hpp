// What descents have found so far.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/space/space.hpp"

namespace culmen::lm {

struct Minimum {
  std::vector<double> x;
  double sum = 0;
  bool exact = false;  ///< to all digits
};

/// The best minima, each once, and how many descents ended at the best value. Bounded in memory.
class Minima {
 public:
  explicit Minima(const Space& space) : space_(space) {}
  /// A descent begins at this sum. Sums that are nothing beside the least of these are all zero.
  void begin(double sum);
  /// A descent ended here.
  void add(Minimum found);
  /// Whether a descent that is near a minimum of this sum may become the best, or make the best one exact.
  bool worth_refining(double sum) const;
  /// One to go on from: often the best. Not when empty.
  const Minimum& choose(Random& random) const;
  bool empty() const { return known_.empty(); }
  std::uint64_t descents() const { return descents_; }
  std::uint64_t agreeing() const { return agreeing_; }  ///< of the descents
  /// At least `repeats` descents, and half of all, came back to where another had found the best value. Places count
  /// because on a plateau sums agree where nothing has been found. A sign, no proof: descents also begin near known
  /// minima, so that a narrow one elsewhere may be missed.
  bool settled(std::uint64_t repeats) const { return repeats_ >= repeats && 2 * repeats_ >= descents_; }

 private:
  bool same(double a, double b) const;
  void visit(const std::vector<double>& x);

  const Space space_;
  std::vector<Minimum> known_;               // best first
  std::vector<std::vector<double>> places_;  // of the best value, in magnitudes
  double zero_ = std::numeric_limits<double>::infinity();
  std::uint64_t descents_ = 0, agreeing_ = 0, repeats_ = 0;
};

}  // namespace culmen::lm
