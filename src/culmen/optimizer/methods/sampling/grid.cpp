// "grid": every combination of a few values of each parameter, once. Finishes by itself.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "culmen/base/error.hpp"
#include "culmen/optimizer/methods/sampling/kinds.hpp"
#include "culmen/optimizer/parts/lattice.hpp"
#include "culmen/optimizer/parts/levels.hpp"

namespace culmen {
namespace {
/// The finest grid with at most `points` values for each parameter and `total` combinations; 0: no limit.
std::vector<std::vector<double>> grid_levels(const Space& space, std::size_t points, std::uint64_t total) {
  auto levels = levels_of(space, points);
  if (total == 0) return levels;
  std::size_t coarse = 1, fine = points + 1;  // coarse: allowed, if any is
  while (fine - coarse > 1) {
    const std::size_t middle = std::midpoint(coarse, fine);
    (combinations(levels_of(space, middle)) <= total ? coarse : fine) = middle;
  }
  return levels_of(space, coarse);
}

/// Steps of about n / golden ratio visit all of 0 … n-1, early ones far apart (Knuth, The Art of Computer Programming,
/// vol. 3, 6.4: Fibonacci hashing).
std::uint64_t spread_stride(std::uint64_t n) {
  auto stride = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(n) * 0.6180339887498949));
  while (std::gcd(stride, n) != 1) ++stride;
  return stride;
}

class Grid final : public Optimizer {
 public:
  Grid(Lattice lattice, bool spread, Mode mode)
      : lattice_(std::move(lattice)), stride_(spread ? spread_stride(lattice_.size()) : 1), mode_(mode) {}
  Mode mode() const override { return mode_; }
  bool ends_by_itself() const override { return true; }
  bool finished() const override { return visited_ == lattice_.size(); }
  std::string name() const override { return "grid"; }

 private:
  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    const auto size = lattice_.size();
    while (n > 0 && visited_ < size) {
      auto x = lattice_.at(at_);
      at_ = at_ >= size - stride_ ? at_ - (size - stride_) : at_ + stride_;
      ++visited_;
      if (!x) continue;
      out.push_back({0, std::move(*x)});
      --n;
    }
  }
  void do_tell(EvaluationId, const Outcome&) override {}
  void do_cancel(EvaluationId) override {}

  const Lattice lattice_;
  const std::uint64_t stride_;
  const Mode mode_;
  std::uint64_t visited_ = 0, at_ = 0;
};
}  // namespace

OptimizerKind grid_kind() {
  return {
      {.name = "grid",
       .about = "every combination of a few values of each parameter; ends by itself",
       .needs_bounds = true,
       .one_objective = false,
       .seeded = false,
       .asynchronous = true,
       .options =
           {OptionRule::word(
                "order",
                "spread: successive candidates lie far apart; rows: row by row, the last parameter varies fastest",
                {"spread", "rows"}, "spread"),
            OptionRule::whole("points", "number of values of each real or integer parameter, including both bounds", 2,
                              1e6, 10),
            OptionRule::whole(
                "total",
                "largest number of candidates; if the grid is larger, real and integer parameters take fewer values; "
                "0: no limit",
                0, 1e15, 0)}},
      [](const Space& space, std::uint64_t, const OptimizerOptions& options, const Terms& terms) {
        Lattice lattice(space, grid_levels(space, count_of(options, "points"), count_of(options, "total")));
        if (lattice.size() == Lattice::most_points) {
          throw InputError("optimizer 'grid': the grid has more than 2^53 candidates; give fewer points, or a total");
        }
        return std::make_unique<Grid>(std::move(lattice), word_of(options, "order") == "spread", terms.mode);
      }};
}

}  // namespace culmen
