// Names <-> flat vectors of doubles. Only the space knows the names; the inner loop moves doubles.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "culmen/base/bytes.hpp"
#include "culmen/space/parameter.hpp"

namespace culmen {

/// An ordered set of named parameters. Immutable, so safe from any thread.
///
/// A *vector* holds one double per parameter in the space's order, in the parameters' own units (integers as whole
/// doubles). A *unit vector* holds the same in [0, 1] (log parameters: linear in the logarithm); optimizers work in it.
class Space {
 public:
  Space() = default;
  /// Throws InputError naming the parameter: an empty or repeated name, a bound upside down, a log bound that is not
  /// positive, an integer bound that is not whole.
  explicit Space(std::vector<Parameter> parameters);
  Space(std::initializer_list<Parameter> parameters) : Space(std::vector<Parameter>(parameters)) {}

  std::size_t size() const { return parameters_.size(); }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const Parameter& operator[](std::size_t i) const { return parameters_[i]; }
  /// Throws InputError when there is none of that name.
  std::size_t index_of(std::string_view name) const;

  /// Unit vector -> vector. Values outside [0, 1] are clamped; integers are cells of equal width; the result always
  /// lies within the bounds.
  void from_unit(std::span<const double> unit, std::span<double> vector) const;
  /// Vector -> unit vector (an integer's cell's middle). from_unit(to_unit(v)) == v for integers, and to a few ulp for
  /// reals; bounds map to 0 and 1 exactly for reals.
  void to_unit(std::span<const double> vector, std::span<double> unit) const;

  /// Vector -> (name, value) in the space's order.
  std::vector<std::pair<std::string, double>> named(std::span<const double> vector) const;
  /// (name, value) in any order -> vector. Throws InputError for a missing, repeated or unknown name, or a value out of
  /// bounds, not whole, or not finite.
  std::vector<double> vector_of(std::span<const std::pair<std::string, double>> values) const;

  /// True when the value sits at a bound, within 1e-6 of the parameter's range (measured on its scale).
  bool at_bound(std::size_t i, double value) const;

  void encode(ByteWriter& out) const;
  static Space decode(ByteReader& in);
  bool operator==(const Space&) const = default;

 private:
  std::vector<Parameter> parameters_;
};

}  // namespace culmen
