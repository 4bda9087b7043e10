// A function that runs on a stack of its own and stops in the middle to wait for something.
#pragma once
#include <cstddef>
#include <utility>

#include <boost/context/fiber.hpp>
#include <functional>

namespace culmen::local {

/// For libraries that call back: their function runs in the fiber, the callback waits. Everything is on one thread. The
/// stack has a guard page: an overflow is a segmentation fault, not a corruption. Libraries in C are never unwound: the
/// destructor lets the function end by itself.
class Fiber {
 public:
  /// body must end soon after a wait() that returned false, and must not throw. It does not begin before resume().
  explicit Fiber(std::function<void(Fiber&)> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// From outside, not when over(): runs the body until its next wait(), or its end.
  void resume();
  /// From the body: gives the word to who called resume(), until the next one. False when the body is to end.
  bool wait();
  bool over() const { return !inside_; }

 private:
  static constexpr std::size_t stack_bytes = 256 * 1024;
  boost::context::fiber inside_, outside_;
  bool stopping_ = false;
};

}  // namespace culmen::local
