// A file that stays open as long as something needs it.
#pragma once
#include <unistd.h>

namespace culmen {

/// Closes its descriptor at its end.
class HeldFile {
 public:
  explicit HeldFile(int descriptor) : descriptor_(descriptor) {}
  ~HeldFile() { close(descriptor_); }
  HeldFile(const HeldFile&) = delete;

 private:
  int descriptor_;
};

}  // namespace culmen
