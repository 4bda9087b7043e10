// Lanes: places at which searches follow each other, each in turns.
#pragma once
#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>

namespace culmen {

/// The points that a lane asks for before it must be told more. Each is served once and settled once.
class Turn {
 public:
  Turn() = default;
  explicit Turn(std::size_t size) : size_(size) {}
  std::size_t serve() { return served_++; }
  void settle() { ++settled_; }
  bool served() const { return served_ == size_; }
  bool settled() const { return settled_ == size_; }

 private:
  std::size_t size_ = 0, served_ = 0, settled_ = 0;
};

/// Serves the points of all lanes, those of the first lanes first. `Lane` has a member `turn`.
template <typename Lane>
class Lanes {
 public:
  /// Where a point came from.
  struct Place {
    std::size_t lane, point;
  };

  explicit Lanes(std::size_t count) : lanes_(count) {}
  std::size_t size() const { return lanes_.size(); }
  Lane& operator[](std::size_t lane) { return lanes_[lane]; }
  Lane& front() { return lanes_.front(); }
  auto begin() { return lanes_.begin(); }
  auto end() { return lanes_.end(); }
  auto begin() const { return lanes_.begin(); }
  auto end() const { return lanes_.end(); }
  /// Returns its number. References to lanes stay valid.
  std::size_t add() {
    lanes_.emplace_back();
    return lanes_.size() - 1;
  }

  /// From now on the lane serves points 0 to `size` - 1. All points of the turn before have been settled.
  void begin_turn(std::size_t lane, std::size_t size) {
    lanes_[lane].turn = Turn(size);
    unsettled_ += size;
    unserved_ = std::min(unserved_, lane);
  }
  /// The next point; none if all lanes wait for results.
  std::optional<Place> serve() {
    while (unserved_ < lanes_.size() && lanes_[unserved_].turn.served()) ++unserved_;
    if (unserved_ == lanes_.size()) return std::nullopt;
    return Place{unserved_, lanes_[unserved_].turn.serve()};
  }
  /// A point of the lane was told or cancelled.
  void settle(std::size_t lane) {
    lanes_[lane].turn.settle();
    --unsettled_;
  }
  /// Whether all points of all turns have been settled.
  bool settled() const { return unsettled_ == 0; }

 private:
  std::deque<Lane> lanes_;
  std::size_t unserved_ = 0;   // all lanes before it have served their turns
  std::size_t unsettled_ = 0;  // points of turns
};

}  // namespace culmen
