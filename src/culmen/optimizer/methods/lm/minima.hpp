// The minima that descents have found so far.
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

/// The best minima, each once, and the number of descents that ended at the best value. Its memory is bounded.
class Minima {
 public:
  explicit Minima(const Space& space) : space_(space) {}
  /// A descent starts at this sum. Sums that are negligible compared with the least of these count as zero.
  void begin(double sum);
  /// A descent ended here.
  void add(Minimum found);
  /// Whether to refine a descent that is near a minimum of this sum: it may become the best, or make the best one
  /// exact.
  bool worth_refining(double sum) const;
  /// A minimum to continue from, often the best. There must be one.
  const Minimum& choose(Random& random) const;
  bool empty() const { return known_.empty(); }
  std::uint64_t descents() const { return descents_; }
  std::uint64_t agreeing() const { return agreeing_; }  ///< of the descents
  /// The descents that returned to a place where another one had found the best value. Places count because on a
  /// plateau sums agree although nothing was found.
  std::uint64_t repeats() const { return repeats_; }
  static constexpr std::uint64_t most_in_vain = 500;
  /// The last `most_in_vain` descents found no better value. Where a loss is nearly flat, each may end at a minimum of
  /// its own.
  bool exhausted() const;
  /// Whether there are enough repeats to stop. This is evidence, not proof: descents also start near known minima, so a
  /// narrow minimum elsewhere may be missed.
  bool settled() const;

 private:
  bool same(double a, double b) const;
  void visit(const std::vector<double>& x);
  void count(double sum);
  double unseen() const;

  const Space space_;
  std::vector<Minimum> known_;               // best first
  std::vector<std::vector<double>> places_;  // of the best value, in magnitudes
  std::vector<double> sums_;                 // of different minima, in their order
  double zero_ = std::numeric_limits<double>::infinity();
  std::uint64_t descents_ = 0, agreeing_ = 0, repeats_ = 0;
  std::uint64_t since_best_ = 0;  // descents
  std::uint64_t uncounted_ = 0;   // descents that ended where no other is known to have ended
};

}  // namespace culmen::lm
