// Robust losses: how residuals become the value.
#pragma once
#include <cstdint>
#include <span>

#include "culmen/base/bytes.hpp"

namespace culmen {

enum class LossKind : unsigned char { linear = 0, soft_l1 = 1, huber = 2, cauchy = 3, arctan = 4 };

/// The value for the residuals r is the sum of f² ρ((r / f)²). Here f is f_scale. The function ρ is the same as in
/// SciPy's least_squares (after Triggs et al., "Bundle adjustment: a modern synthesis", 2000). The cost of SciPy is
/// half of this value.
///
/// - linear: ρ(z) = z
/// - soft_l1: ρ(z) = 2 (√(1 + z) - 1)
/// - huber: ρ(z) = z up to z = 1, then 2 √z - 1
/// - cauchy: ρ(z) = ln(1 + z)
/// - arctan: ρ(z) = atan(z)
struct Loss {
  LossKind kind = LossKind::linear;
  double f_scale = 1;
  bool operator==(const Loss&) const = default;

  /// As StopRules::each_setting.
  template <class Visit>
  static void each_setting(Visit visit) {
    visit("loss", &Loss::kind);
    visit("f_scale", &Loss::f_scale);
  }

  /// Throws InputError if f_scale is not from 1e-50 to 1e50.
  void check() const;
  bool linear() const { return kind == LossKind::linear; }
  /// Sums in order. For linear it is the sum of squares.
  double value(std::span<const double> residuals) const;

  /// The value's derivative by r is 2 slope r; its second derivative is 2 curvature, which may be negative.
  struct Weight {
    double slope = 1, curvature = 1;
  };
  Weight weight(double r) const;
};

/// Layout: u8 kind | f64 f_scale.
void encode(const Loss& loss, ByteWriter& out);
Loss decode_loss(ByteReader& in);

}  // namespace culmen
