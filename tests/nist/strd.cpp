#include "nist/strd.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <numbers>
#include <sstream>
#include <stdexcept>

namespace culmen::nist {
namespace {
constexpr double most_digits = 11;

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + " cannot be read");
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Values numbers_in(const std::string& text) {
  std::istringstream in(text);
  Values out;
  for (double v = 0; in >> v;) out.push_back(v);
  return out;
}

/// "(lines 61 to 214)" of the line that begins with `what`, counted from 0, the end not included.
std::pair<std::size_t, std::size_t> range_of(const std::vector<std::string>& lines, const std::string& what) {
  for (const auto& line : lines) {
    std::size_t first = 0, last = 0;
    const auto at = line.find(what);
    if (at == std::string::npos) continue;
    if (std::sscanf(line.c_str() + at + what.size(), " (lines %zu to %zu", &first, &last) == 2)
      return {first - 1, std::min(last, lines.size())};
  }
  throw std::runtime_error("no line says where '" + what + "' stand");
}
}  // namespace

Set Set::read(const Model& model, const std::string& folder) {
  const auto lines = lines_of(folder + "/" + model.name + ".dat");
  Set set{model, {{}, {}}, {}, 0, {}};
  const auto [first, end] = range_of(lines, "Starting Values");
  for (std::size_t k = first; k < end; ++k) {
    const auto row = numbers_in(lines[k].substr(lines[k].find('=') + 1));
    if (row.size() != 4) throw std::runtime_error(model.name + ": a parameter's line has not four numbers");
    set.starts[0].push_back(row[0]);
    set.starts[1].push_back(row[1]);
    set.certified.push_back(row[2]);
  }
  for (const auto& line : lines) {
    if (line.starts_with("Residual Sum of Squares:")) set.certified_sum = numbers_in(line.substr(24)).at(0);
  }
  const auto [top, bottom] = range_of(lines, "Data             ");
  for (std::size_t k = top; k < bottom; ++k) {
    auto row = numbers_in(lines[k]);
    if (row.size() < 2) continue;
    const double y = model.name == "Nelson" ? std::log(row[0]) : row[0];
    set.observations.push_back({y, Values(row.begin() + 1, row.end())});
  }
  return set;
}

Values Set::residuals(const Values& b) const {
  Values out;
  for (const auto& o : observations) out.push_back(o.y - model.f(b, o.x));
  return out;
}

Outcome Set::outcome(const Values& b) const {
  auto out = Outcome::of_residuals(residuals(b));
  out.check_finite();
  return out;
}

double Set::digits(const Values& b) const {
  const auto of = [&](const Values& v) {
    double worst = most_digits;
    for (std::size_t i = 0; i < v.size(); ++i)
      worst = std::min(worst, -std::log10(std::abs(v[i] - certified[i]) / std::abs(certified[i])));
    return worst;
  };
  double best = of(b);
  for (const auto& exchange : model.exchanges) best = std::max(best, of(exchange(b)));
  return best;
}

Space box_of(const std::vector<Values>& starts) {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < starts[0].size(); ++i) {
    const auto [low, high] = std::minmax(starts[0][i], starts[1][i]);
    const double span = 10 * (high - low);
    parameters.push_back(low > 0 ? real("b" + std::to_string(i + 1), low / 100, high * 100)
                                 : real("b" + std::to_string(i + 1), low - span, high + span));
  }
  return Space(std::move(parameters));
}

}  // namespace culmen::nist
