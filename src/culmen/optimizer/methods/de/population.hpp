// The places of a population, the best first, and who was driven out of them.
#pragma once
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/parts/standing.hpp"

namespace culmen::de {

using Point = std::vector<double>;  ///< a unit vector

/// A place is empty until put() fills it, and gone for good when shrink() took it.
class Population {
 public:
  explicit Population(std::size_t size = 0) { grow(size); }

  /// Places that are not gone; places() counts these too.
  std::size_t size() const { return size_; }
  std::size_t places() const { return members_.size(); }
  bool alive(std::size_t place) const { return !members_[place].gone; }
  bool filled(std::size_t place) const { return !members_[place].x.empty(); }
  const Point& at(std::size_t place) const { return members_[place].x; }
  const Standing& standing(std::size_t place) const { return members_[place].standing; }
  /// The filled places, best first; the older goes first among equals.
  const std::vector<std::size_t>& order() const { return order_; }
  std::size_t best() const { return order_.front(); }
  std::size_t worst() const { return order_.back(); }

  void put(std::size_t place, Point x, Standing standing);
  /// To `size` places, as far as it is smaller.
  void grow(std::size_t size);
  /// To `size` places, as far as it is larger: empty ones go first, then the worst.
  void shrink(std::size_t size);

 private:
  struct Member {
    Point x = {};
    Standing standing = {};
    bool gone = false;
  };
  std::vector<Member> members_;
  std::vector<std::size_t> order_;
  std::size_t size_ = 0;
};

/// Points that were driven out: L-SHADE's external archive. Above its capacity, which ones stay is random.
class Archive {
 public:
  void add(const Point& x, std::size_t capacity, Random& random);
  void shrink(std::size_t capacity, Random& random);
  std::size_t size() const { return points_.size(); }
  const Point& operator[](std::size_t k) const { return points_[k]; }

 private:
  std::vector<Point> points_;
};

}  // namespace culmen::de
