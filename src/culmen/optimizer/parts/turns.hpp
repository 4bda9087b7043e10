// Which place of a population is served next.
#pragma once
#include <cstddef>

namespace culmen {

/// One after the other, whether its last candidate came back or not: so each place gets as many candidates as any
/// other, and one whose evaluations are quick does not outrun one where they take long.
class Turns {
 public:
  /// Of places 0 to `places` - 1 the next that is alive; at least one is.
  template <typename Alive>
  std::size_t take(std::size_t places, Alive alive) {
    do next_ = next_ < places ? next_ + 1 : 1;
    while (!alive(next_ - 1));
    return next_ - 1;
  }

 private:
  std::size_t next_ = 0;  // one beyond the place that was served last
};

}  // namespace culmen
