// Converts named values to vectors of doubles and back. Only the space knows the names; inner loops use doubles.
#pragma once
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "culmen/base/bytes.hpp"
#include "culmen/space/named_expression.hpp"
#include "culmen/space/parameter.hpp"

namespace culmen {

/// An expression of parameters that should be true for every candidate, such as "x + y <= 1". If one of these
/// parameters is inactive, the constraint does not apply.
using Constraint = NamedExpression;

/// The parameters in their order, and the constraints on the parameters. A Space never changes. Therefore several
/// threads may use it. A copy is cheap.
///
/// A *fixed* parameter has one value and is not part of the search. parameters(), size() and vectors do not include the
/// fixed parameters. They also do not include a parameter that a fixed parameter makes inactive for all candidates.
/// Named values, expressions and evaluators include the fixed parameters.
///
/// A *vector* has one double per parameter, in the order of the space. A *whole vector* also includes the fixed
/// parameters.
///
/// A parameter is *inactive* if its condition is false, or if the condition contains an inactive parameter. In a
/// vector, an inactive parameter has its *resting value*: the initial value or, without an initial value, the middle of
/// its range.
class Space {
 public:
  using Named = std::pair<std::string, Value>;

  Space() = default;
  /// Throws InputError for a mistake in a parameter or constraint, such as a wrong bound, an empty or repeated name, or
  /// an expression that cannot be read. Other mistakes are a condition that depends on itself, a constraint that fixed
  /// parameters violate, and a space in which no parameter can vary.
  explicit Space(std::vector<Parameter> parameters, std::vector<Constraint> constraints = {});
  Space(std::initializer_list<Parameter> parameters) : Space(std::vector<Parameter>(parameters)) {}

  std::size_t size() const { return parameters_.size(); }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<Constraint>& constraints() const { return constraints_; }
  const Parameter& operator[](std::size_t i) const { return parameters_[i]; }
  /// The parameters as they were given, with the fixed ones.
  const std::vector<Parameter>& all() const { return fixed_ ? fixed_->all : parameters_; }
  /// Index of parameter i among all().
  std::size_t place(std::size_t i) const { return fixed_ ? fixed_->places[i] : i; }
  /// The same space, but its vectors are whole vectors.
  Space whole() const;
  /// Vector -> whole vector, with inactive parameters at rest.
  std::vector<double> spread(std::span<const double> vector) const;
  /// Whole vector -> vector. Throws InputError if it has another length, or another value of a fixed parameter.
  std::vector<double> searched(std::span<const double> whole) const;

  /// Unit vector -> vector. A *unit vector*, which optimizers use, has one number from 0 to 1 per parameter. Reals with
  /// a logarithmic scale are linear in the logarithm. The values of a discrete parameter are cells of equal width.
  ///
  /// Numbers outside [0, 1] are clamped. The result always lies within the bounds, with inactive parameters at rest.
  /// The two vectors may be the same memory.
  void from_unit(std::span<const double> unit, std::span<double> vector) const;
  /// Vector -> unit vector (a cell's middle). from_unit(to_unit(v)) == v for discrete parameters, and to a few ulp for
  /// reals; bounds map to 0 and 1 exactly for reals.
  void to_unit(std::span<const double> vector, std::span<double> unit) const;

  /// Whether any parameter has a condition.
  bool conditional() const;
  /// Which parameters are active, one flag each.
  std::vector<char> activity(std::span<const double> vector) const;
  /// Inactive parameters become `value`.
  void put_inactive(std::span<double> vector, double value) const;
  /// Inactive parameters become their resting values.
  void rest_inactive(std::span<double> vector) const;

  /// Sum of the violations of all constraints; 0: all hold. See Expression::violation.
  double violation(std::span<const double> vector) const;
  bool feasible(std::span<const double> vector) const { return violation(vector) == 0; }
  /// Appends the violation of each constraint, below 0 if it holds; see Expression::slacks. Always appends the same
  /// number of values. Only for spaces without conditions.
  void slacks(std::span<const double> vector, std::vector<double>& out) const;

  /// The initial values, or the middle for parameters without one.
  std::vector<double> start() const;
  /// Whether any parameter has an initial value.
  bool has_start() const;

  /// Vector -> (name, value) of the active parameters in the space's order.
  std::vector<Named> named(std::span<const double> vector) const;
  /// (name, value) in any order -> vector. Inactive and fixed parameters need no value. Inactive ones get their resting
  /// values. Throws InputError for a missing, repeated or unknown name, or a value that is not allowed.
  std::vector<double> vector_of(std::span<const Named> values) const;

  /// True if the value lies at a bound, within 1e-6 of the parameter's range (measured on its scale). Never for
  /// parameters without an order.
  bool at_bound(std::size_t i, double value) const;

  /// Layout:
  ///
  ///     u64 n, n x (text name | u8 kind | u8 scale | f64 lower | f64 upper | u32 k, k x choice
  ///     | u8 1: has_initial, 2: is fixed | f64 initial | text active_when | f64 fixed if it is)
  ///     | u64 m, m x (text name, text expression)
  ///
  /// A choice: u8 kind | 0: f64, 1: text, 2: i64, 3: u8 0 or 1, 4: nothing.
  void encode(ByteWriter& out) const;
  static Space decode(ByteReader& in);
  bool operator==(const Space& other) const { return all() == other.all() && constraints_ == other.constraints_; }

 private:
  struct Rules;
  struct Fixed {
    std::vector<Parameter> all;
    std::vector<double> values;       // by index in `all`; of searched parameters at rest
    std::vector<std::size_t> places;  // of the searched parameters
    bool conditional;                 // the activity of some parameter depends on searched ones
  };
  void leave_out_fixed();
  std::vector<char> activity_of_all(std::span<const double> whole) const;
  std::span<const double> with_fixed(std::span<const double> vector, std::vector<double>& room) const;

  std::vector<Parameter> parameters_;
  std::vector<Constraint> constraints_;
  std::shared_ptr<const Rules> rules_;  // expressions of whole vectors, parsed; null if there are none
  std::shared_ptr<const Fixed> fixed_;  // null if no parameter is fixed
};

}  // namespace culmen
