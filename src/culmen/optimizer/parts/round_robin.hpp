// Which place of a population is next.
#pragma once
#include <cstddef>

namespace culmen {

/// Takes the places in turn, whether their last candidates came back or not. So each place gets the same number of
/// candidates, however long its evaluations take.
class RoundRobin {
 public:
  /// The next of the places 0 to `places` - 1 that is alive. At least one must be.
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
