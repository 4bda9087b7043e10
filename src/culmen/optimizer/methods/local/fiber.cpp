#include "culmen/optimizer/methods/local/fiber.hpp"

#include <boost/context/protected_fixedsize_stack.hpp>

namespace culmen::local {
using boost::context::fiber;

Fiber::Fiber(std::function<void(Fiber&)> body)
    : inside_(std::allocator_arg, boost::context::protected_fixedsize_stack(stack_bytes),
              [this, body = std::move(body)](fiber&& outside) {
                outside_ = std::move(outside);
                if (!stopping_) body(*this);
                return std::move(outside_);
              }) {}

Fiber::~Fiber() {
  stopping_ = true;
  while (!over()) resume();
}

void Fiber::resume() { inside_ = std::move(inside_).resume(); }

bool Fiber::wait() {
  if (!stopping_) outside_ = std::move(outside_).resume();
  return !stopping_;
}

}  // namespace culmen::local
