// Which place of a population is served next.
#pragma once
#include <deque>
#include <vector>

namespace culmen {

/// The place that has been idle longest; where all have candidates in flight, one after the other. So a place whose
/// evaluations are quick has its next turn no sooner than its last candidate came back, and where there are more
/// workers than places, each place has about as many candidates in flight as any other.
class Turns {
 public:
  explicit Turns(std::size_t places = 0) { grow(places); }

  void grow(std::size_t places) {
    for (std::size_t p = in_flight_.size(); p < places; ++p) idle_.push_back(p);
    if (places > in_flight_.size()) in_flight_.resize(places, 0);
  }
  /// `alive(place)`: whether it still takes part; at least one does.
  template <typename Alive>
  std::size_t take(Alive alive) {
    while (!idle_.empty()) {
      const auto place = idle_.front();
      idle_.pop_front();
      if (alive(place)) return ++in_flight_[place], place;
    }
    do next_ = (next_ + 1) % in_flight_.size();
    while (!alive(next_));
    return ++in_flight_[next_], next_;
  }
  void give_back(std::size_t place) {
    if (--in_flight_[place] == 0) idle_.push_back(place);
  }

 private:
  std::vector<std::size_t> in_flight_;
  std::deque<std::size_t> idle_;
  std::size_t next_ = 0;
};

}  // namespace culmen
