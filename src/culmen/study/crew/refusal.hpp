// Why the ranks of a launch do not work: one error in every rank.
#pragma once
#include <cstdint>
#include <exception>
#include <string>

namespace culmen {

struct Refusal {
  enum class Kind : std::uint8_t { transport, input, store, other };

  std::string why;              ///< empty: there is none
  Kind kind = Kind::transport;  ///< the class of the error; other: Error itself

  static Refusal of(const std::exception& error);
  bool empty() const { return why.empty(); }
  [[noreturn]] void raise() const;
};

}  // namespace culmen
