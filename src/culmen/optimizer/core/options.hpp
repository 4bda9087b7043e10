// The options that a user can give an optimizer.
#pragma once
#include <concepts>
#include <map>
#include <string>
#include <utility>
#include <variant>

namespace culmen {

/// A number, a word or a flag.
struct OptionValue : std::variant<double, std::string, bool> {
  OptionValue() = default;
  OptionValue(std::string word) : variant(std::move(word)) {}
  OptionValue(bool flag) : variant(flag) {}
  OptionValue(const char* word) : variant(std::string(word)) {}
  template <typename T>
    requires(std::integral<T> || std::floating_point<T>) && (!std::same_as<T, bool>)
  OptionValue(T number) : variant(static_cast<double>(number)) {}
};

using OptimizerOptions = std::map<std::string, OptionValue>;

/// As in a study file, with the shortest form of numbers: 0.25, "plus", true.
std::string to_string(const OptionValue& value);

}  // namespace culmen
