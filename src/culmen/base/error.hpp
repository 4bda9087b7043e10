// Errors that leave culmen. A new type exists only if the caller would act differently.
#pragma once
#include <stdexcept>
#include <string>

namespace culmen {

/// Base of all. what() is one sentence: what was given, what is allowed, and where. It shows a null character as \0.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what);
};

/// The caller gave something that is not allowed; nothing was started.
class InputError : public Error {
 public:
  using Error::Error;
};

/// This machine cannot evaluate anything now (full disk, no more processes). No candidate caused it: no outcome.
class ResourceError : public Error {
 public:
  using Error::Error;
};

/// The study's file could not be read or written (full disk, damage, another owner).
class StoreError : public Error {
 public:
  using Error::Error;
};

/// Master and workers cannot reach each other (shared memory, MPI).
class TransportError : public Error {
 public:
  using Error::Error;
};

}  // namespace culmen
