#include "culmen/optimizer/methods/de/population.hpp"

#include <algorithm>

namespace culmen::de {

void Population::put(std::size_t place, Point x, Standing standing) {
  auto& member = members_[place];
  if (filled(place)) order_.erase(std::ranges::find(order_, place));
  member.x = std::move(x);
  member.standing = standing;
  const auto after = std::ranges::upper_bound(
      order_, standing, [](const Standing& a, const Standing& b) { return a.better_than(b); },
      [&](std::size_t p) { return members_[p].standing; });
  order_.insert(after, place);
}

void Population::grow(std::size_t size) {
  for (; size_ < size; ++size_) members_.emplace_back();
}

void Population::shrink(std::size_t size) {
  for (std::size_t p = 0; p < members_.size() && size_ > std::max(size, order_.size()); ++p) {
    if (!alive(p) || filled(p)) continue;
    members_[p].gone = true;
    --size_;
  }
  for (; size_ > size; --size_) {
    members_[order_.back()] = {.gone = true};
    order_.pop_back();
  }
}

void Archive::add(const Point& x, std::size_t capacity, Random& random) {
  if (points_.size() < capacity) points_.push_back(x);
  else if (!points_.empty()) points_[random.below(points_.size())] = x;
}

void Archive::shrink(std::size_t capacity, Random& random) {
  while (points_.size() > capacity) {
    std::swap(points_[random.below(points_.size())], points_.back());
    points_.pop_back();
  }
}

}  // namespace culmen::de
