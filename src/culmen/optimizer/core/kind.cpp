#include "culmen/optimizer/core/kind.hpp"

namespace culmen {

double number_of(const OptimizerOptions& options, const std::string& name) {
  return std::get<double>(options.at(name));
}

std::size_t count_of(const OptimizerOptions& options, const std::string& name) {
  return static_cast<std::size_t>(number_of(options, name));
}

const std::string& word_of(const OptimizerOptions& options, const std::string& name) {
  return std::get<std::string>(options.at(name));
}

}  // namespace culmen
