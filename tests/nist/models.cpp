#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "nist/strd.hpp"

namespace culmen::nist {
namespace {
using std::exp;
using std::pow;

double square(double v) { return v * v; }

double gauss(const Values& b, const Values& x) {
  return b[0] * exp(-b[1] * x[0]) + b[2] * exp(-square(x[0] - b[3]) / square(b[4])) +
         b[5] * exp(-square(x[0] - b[6]) / square(b[7]));
}

double lanczos(const Values& b, const Values& x) {
  return b[0] * exp(-b[1] * x[0]) + b[2] * exp(-b[3] * x[0]) + b[4] * exp(-b[5] * x[0]);
}

double chwirut(const Values& b, const Values& x) { return exp(-b[0] * x[0]) / (b[1] + b[2] * x[0]); }

double cubics(const Values& b, const Values& x) {
  const double v = x[0];
  return (b[0] + v * (b[1] + v * (b[2] + v * b[3]))) / (1 + v * (b[4] + v * (b[5] + v * b[6])));
}

double enso(const Values& b, const Values& x) {
  const double turn = 2 * std::numbers::pi * x[0];
  return b[0] + b[1] * std::cos(turn / 12) + b[2] * std::sin(turn / 12) + b[4] * std::cos(turn / b[3]) +
         b[5] * std::sin(turn / b[3]) + b[7] * std::cos(turn / b[6]) + b[8] * std::sin(turn / b[6]);
}

/// ENSO's x are whole numbers, so a frequency and those that differ from it by a whole number give the same function;
/// a negative frequency is a positive one with the sine's sign turned. This is the slowest wave of them all.
void slowest(double& period, double& sine) {
  const double frequency = 1 / period - std::round(1 / period);
  period = 1 / std::abs(frequency);
  if (frequency < 0) sine = -sine;
}

Values slow(Values b) {
  slowest(b[3], b[5]);
  slowest(b[6], b[8]);
  return b;
}

Values exchanged(const Values& b, std::size_t i, std::size_t j, std::size_t count) {
  Values out = b;
  std::swap_ranges(out.begin() + static_cast<std::ptrdiff_t>(i), out.begin() + static_cast<std::ptrdiff_t>(i + count),
                   out.begin() + static_cast<std::ptrdiff_t>(j));
  return out;
}

std::vector<Exchange> enso_exchanges() {
  return {slow, [](const Values& b) { return exchanged(slow(b), 3, 6, 3); }};
}

std::vector<Exchange> two_peaks() {
  return {[](const Values& b) { return exchanged(b, 2, 5, 3); }};
}

std::vector<Exchange> three_decays() {
  std::vector<Exchange> all;
  std::array<std::size_t, 3> order{0, 1, 2};
  while (std::ranges::next_permutation(order).found) {
    all.push_back([order](const Values& b) {
      Values out;
      for (const auto k : order) out.insert(out.end(), {b[2 * k], b[2 * k + 1]});
      return out;
    });
  }
  return all;
}
}  // namespace

const std::vector<Model>& models() {
  static const std::vector<Model> all{
      {"Bennett5", [](const Values& b, const Values& x) { return b[0] * pow(b[1] + x[0], -1 / b[2]); }},
      {"BoxBOD", [](const Values& b, const Values& x) { return b[0] * (1 - exp(-b[1] * x[0])); }},
      {"Chwirut1", chwirut},
      {"Chwirut2", chwirut},
      {"DanWood", [](const Values& b, const Values& x) { return b[0] * pow(x[0], b[1]); }},
      {"ENSO", enso, enso_exchanges()},
      {"Eckerle4",
       [](const Values& b, const Values& x) { return b[0] / b[1] * exp(-0.5 * square((x[0] - b[2]) / b[1])); }},
      {"Gauss1", gauss, two_peaks()},
      {"Gauss2", gauss, two_peaks()},
      {"Gauss3", gauss, two_peaks()},
      {"Hahn1", cubics},
      {"Kirby2",
       [](const Values& b, const Values& x) {
         return (b[0] + x[0] * (b[1] + x[0] * b[2])) / (1 + x[0] * (b[3] + x[0] * b[4]));
       }},
      {"Lanczos1", lanczos, three_decays()},
      {"Lanczos2", lanczos, three_decays()},
      {"Lanczos3", lanczos, three_decays()},
      {"MGH09",
       [](const Values& b, const Values& x) {
         return b[0] * (x[0] * x[0] + x[0] * b[1]) / (x[0] * x[0] + x[0] * b[2] + b[3]);
       }},
      {"MGH10", [](const Values& b, const Values& x) { return b[0] * exp(b[1] / (x[0] + b[2])); }},
      {"MGH17",
       [](const Values& b, const Values& x) { return b[0] + b[1] * exp(-x[0] * b[3]) + b[2] * exp(-x[0] * b[4]); }},
      {"Misra1a", [](const Values& b, const Values& x) { return b[0] * (1 - exp(-b[1] * x[0])); }},
      {"Misra1b", [](const Values& b, const Values& x) { return b[0] * (1 - 1 / square(1 + b[1] * x[0] / 2)); }},
      {"Misra1c", [](const Values& b, const Values& x) { return b[0] * (1 - pow(1 + 2 * b[1] * x[0], -0.5)); }},
      {"Misra1d", [](const Values& b, const Values& x) { return b[0] * b[1] * x[0] / (1 + b[1] * x[0]); }},
      {"Nelson", [](const Values& b, const Values& x) { return b[0] - b[1] * x[0] * exp(-b[2] * x[1]); }},
      {"Rat42", [](const Values& b, const Values& x) { return b[0] / (1 + exp(b[1] - b[2] * x[0])); }},
      {"Rat43", [](const Values& b, const Values& x) { return b[0] / pow(1 + exp(b[1] - b[2] * x[0]), 1 / b[3]); }},
      {"Roszman1",
       [](const Values& b, const Values& x) {
         return b[0] - b[1] * x[0] - std::atan(b[2] / (x[0] - b[3])) / std::numbers::pi;
       }},
      {"Thurber", cubics},
  };
  return all;
}

}  // namespace culmen::nist
