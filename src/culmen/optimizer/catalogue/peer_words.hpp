// Words of other optimization libraries, and ours.
#pragma once
#include <string>
#include <vector>

namespace culmen {

/// " (here, this method is 'bayes')" for "TPE", else a suggestion for a misspelt name, or nothing.
std::string hint_for_optimizer(const std::string& given, const std::vector<std::string>& known);
/// The same for an option: " (here, this option is 'population')" for "popsize". For a setting of the whole study, such
/// as a seed, the hint says where it belongs. `known`: the options of the optimizer.
std::string hint_for_option(const std::string& given, const std::vector<std::string>& known);

}  // namespace culmen
