// Names <-> flat vectors of doubles. Only the space knows the names; the inner loop moves doubles.
#pragma once
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "culmen/base/bytes.hpp"
#include "culmen/space/parameter.hpp"

namespace culmen {

/// A condition on parameters that every candidate should fulfil.
struct Constraint {
  std::string name;
  std::string expression;  ///< see expression.hpp; it does not apply while one of its parameters is inactive
  bool operator==(const Constraint&) const = default;
};

/// An ordered set of named parameters, and constraints on them. Immutable and cheap to copy, so safe from any thread.
///
/// A *vector* holds one double per parameter in the space's order, as Parameter says. A *unit vector* holds the same in
/// [0, 1] (log parameters: linear in the logarithm; what is discrete: cells of equal width); optimizers work in it.
///
/// A parameter with a condition is *inactive* where that does not hold, or where it names an inactive parameter. It
/// then is its resting value in a vector: its initial value, or without one the middle of its range.
class Space {
 public:
  using Named = std::pair<std::string, Value>;

  Space() = default;
  /// Throws InputError naming the parameter or constraint: an empty or repeated name, a bound upside down, a log bound
  /// that is not positive, an integer bound that is not whole, an expression that cannot be read, conditions in a
  /// circle.
  explicit Space(std::vector<Parameter> parameters, std::vector<Constraint> constraints = {});
  Space(std::initializer_list<Parameter> parameters) : Space(std::vector<Parameter>(parameters)) {}

  std::size_t size() const { return parameters_.size(); }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<Constraint>& constraints() const { return constraints_; }
  const Parameter& operator[](std::size_t i) const { return parameters_[i]; }
  /// Throws InputError when there is none of that name.
  std::size_t index_of(std::string_view name) const;

  /// Unit vector -> vector. Values outside [0, 1] are clamped; the result always lies within the bounds, inactive
  /// parameters at rest. The two may be the same memory.
  void from_unit(std::span<const double> unit, std::span<double> vector) const;
  /// Vector -> unit vector (a cell's middle). from_unit(to_unit(v)) == v for what is discrete, and to a few ulp for
  /// reals; bounds map to 0 and 1 exactly for reals.
  void to_unit(std::span<const double> vector, std::span<double> unit) const;

  /// Whether any parameter is active under a condition only.
  bool conditional() const;
  /// Which parameters are active, one flag each.
  std::vector<char> activity(std::span<const double> vector) const;
  /// Inactive parameters become `value`.
  void put_inactive(std::span<double> vector, double value) const;
  /// Inactive parameters become their resting values.
  void rest_inactive(std::span<double> vector) const;

  /// Sum over the constraints of how far each is from holding; 0: all hold. See Expression::violation.
  double violation(std::span<const double> vector) const;
  bool feasible(std::span<const double> vector) const { return violation(vector) == 0; }
  /// Appends by how much each constraint is violated, or below 0 by how much it is not; see Expression::slacks. Always
  /// as many. Without conditions alone.
  void slacks(std::span<const double> vector, std::vector<double>& out) const;

  /// Initial values where there are any, the middle elsewhere.
  std::vector<double> start() const;
  /// Whether any parameter has an initial value.
  bool has_start() const;

  /// Vector -> (name, value) of the active parameters in the space's order.
  std::vector<Named> named(std::span<const double> vector) const;
  /// (name, value) in any order -> vector. Inactive parameters need no value, and get their resting one. Throws
  /// InputError for a missing, repeated or unknown name, or a value that the parameter cannot be.
  std::vector<double> vector_of(std::span<const Named> values) const;

  /// True when the value sits at a bound, within 1e-6 of the parameter's range (measured on its scale). Never for what
  /// has no order.
  bool at_bound(std::size_t i, double value) const;

  /// Layout: u64 n, n x (text name | u8 kind | u8 scale | f64 lower | f64 upper | u32 k, k x (u8 is_text, then text or
  /// f64) choices | u8 has_initial | f64 initial | text active_when) | u64 m, m x (text name, text expression).
  void encode(ByteWriter& out) const;
  static Space decode(ByteReader& in);
  bool operator==(const Space& other) const {
    return parameters_ == other.parameters_ && constraints_ == other.constraints_;
  }

 private:
  struct Rules;
  std::vector<Parameter> parameters_;
  std::vector<Constraint> constraints_;
  std::shared_ptr<const Rules> rules_;  // expressions, parsed; null where there are none
};

}  // namespace culmen
