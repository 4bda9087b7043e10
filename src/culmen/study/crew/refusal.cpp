#include "culmen/study/crew/refusal.hpp"

#include "culmen/base/error.hpp"

namespace culmen {

Refusal Refusal::of(const std::exception& error) {
  if (dynamic_cast<const InputError*>(&error)) return {error.what(), Kind::input};
  if (dynamic_cast<const StoreError*>(&error)) return {error.what(), Kind::store};
  if (dynamic_cast<const TransportError*>(&error)) return {error.what(), Kind::transport};
  return {error.what(), Kind::other};
}

void Refusal::raise() const {
  if (kind == Kind::input) throw InputError(why);
  if (kind == Kind::store) throw StoreError(why);
  if (kind == Kind::transport) throw TransportError(why);
  throw Error(why);
}

}  // namespace culmen
