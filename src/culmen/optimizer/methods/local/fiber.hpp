// A function that runs on its own stack and can pause to wait.
#pragma once
#include <cstddef>
#include <utility>

#include <boost/context/fiber.hpp>
#include <functional>

namespace culmen::local {

/// For libraries that call back: their function runs in the fiber, and the callback waits. Everything runs on one
/// thread. The stack has a guard page: an overflow is a segmentation fault, not a corruption. Libraries in C are never
/// unwound: the destructor lets the function return by itself.
class Fiber {
 public:
  /// body must return soon after a wait() that returned false, and must not throw. It starts with the first resume().
  explicit Fiber(std::function<void(Fiber&)> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Call this from outside, not if over(). Runs the body until its next wait() or its end.
  void resume();
  /// Call this from the body. Returns control to the caller of resume() until its next call. False: the body must
  /// return.
  bool wait();
  bool over() const { return !inside_; }

 private:
  static constexpr std::size_t stack_bytes = 256 * 1024;
  boost::context::fiber inside_, outside_;
  bool stopping_ = false;
};

}  // namespace culmen::local
