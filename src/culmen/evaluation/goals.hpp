// What is wanted of an evaluation's figures.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "culmen/base/bytes.hpp"
#include "culmen/evaluation/outcome.hpp"

namespace culmen {

enum class Direction : unsigned char { minimize = 0, maximize = 1 };

struct Objective {
  std::string name;
  Direction direction = Direction::minimize;
  bool operator==(const Objective&) const = default;
};

/// A figure that has to stay within bounds, inclusive.
struct Limit {
  std::string name;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool operator==(const Limit&) const = default;
};

/// Objectives (none: the value, to be minimized) and limits of further figures.
struct Goals {
  std::vector<Objective> objectives;
  std::vector<Limit> limits;
  bool operator==(const Goals&) const = default;

  /// Throws InputError: a name that is empty or there twice, a limit without bounds or with bounds upside down.
  void check() const;
  bool several() const { return objectives.size() > 1; }
  /// A stored value, which is to be minimized, as the user knows it; and the reverse.
  double as_given(std::size_t objective, double value) const;
};

/// Fills in what goals decide of an outcome that is ok: takes the objectives from the extras of their names (where
/// `figures` says that they are there and not in the value), turns what is to be maximized round, and adds to the
/// violation by how far limits do not hold. An outcome that lacks a figure becomes wrong_shape, naming it.
void judge(Outcome& outcome, const Goals& goals, bool figures);

/// Appends for each bound of a limit by how much a judged outcome is beyond it, or below 0 how far it is from it; lower
/// before upper, NaN where the outcome lacks the figure.
void slacks(const Outcome& outcome, const Goals& goals, std::vector<double>& out);

/// Layout: u32 n, n x (text name, u8 direction) | u32 m, m x (text name, f64 lower, f64 upper).
void encode(const Goals& goals, ByteWriter& out);
Goals decode_goals(ByteReader& in);

}  // namespace culmen
