// The members of a population, best first, and an archive of replaced members.
#pragma once
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/parts/standing.hpp"

namespace culmen::de {

using Point = std::vector<double>;  ///< a unit vector

/// A place is empty until put() fills it. A place that shrink() removed never returns.
class Population {
 public:
  explicit Population(std::size_t size = 0) { grow(size); }

  /// The number of places that were not removed; places() includes the removed ones.
  std::size_t size() const { return size_; }
  std::size_t places() const { return members_.size(); }
  bool alive(std::size_t place) const { return !members_[place].gone; }
  bool filled(std::size_t place) const { return !members_[place].x.empty(); }
  const Point& at(std::size_t place) const { return members_[place].x; }
  const Standing& standing(std::size_t place) const { return members_[place].standing; }
  /// The filled places, best first; among equals the older one comes first.
  const std::vector<std::size_t>& order() const { return order_; }
  std::size_t best() const { return order_.front(); }
  std::size_t worst() const { return order_.back(); }

  void put(std::size_t place, Point x, Standing standing);
  /// Grows to `size` places, if there are fewer.
  void grow(std::size_t size);
  /// Shrinks to `size` places, if there are more: removes empty ones first, then the worst.
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

/// Points that were replaced: L-SHADE's external archive. If it is full, the points that stay are random.
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
