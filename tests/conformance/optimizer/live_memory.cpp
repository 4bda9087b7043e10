#include "conformance/optimizer/live_memory.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> live{0};
}

void* operator new(std::size_t n) {
  void* p = std::malloc(n);
  if (!p) throw std::bad_alloc();
  live += malloc_usable_size(p);
  return p;
}

void operator delete(void* p) noexcept {
  live -= p ? malloc_usable_size(p) : 0;
  std::free(p);
}

void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace culmen::conformance {
std::size_t live_bytes() { return live; }
}  // namespace culmen::conformance
