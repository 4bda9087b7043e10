// How many files this process may have open.
#pragma once
#include <cstddef>

namespace culmen {

/// While it lives, this process may open `descriptors` more files for it: the soft limit (RLIMIT_NOFILE) is raised if
/// it is too low for all that live, and restored after the last of them. Children that spawn()
/// starts get the former soft limit, because select(2) supports no descriptor above 1023. Thread-safe.
class DescriptorRoom {
 public:
  /// Throws InputError when the hard limit does not allow it.
  explicit DescriptorRoom(std::size_t descriptors);
  ~DescriptorRoom();
  DescriptorRoom(const DescriptorRoom&) = delete;
  DescriptorRoom& operator=(const DescriptorRoom&) = delete;

 private:
  std::size_t descriptors_;
};

/// The soft limit for a child; 0 if it is this process's own, which the child inherits.
std::size_t childs_descriptor_limit() noexcept;
/// `culmen __exec LIMIT NAME PROGRAM ARGUMENT…`, `argv` from "__exec" on: becomes that program with this soft limit.
/// Returns 127 if it cannot.
int exec_main(int argc, char** argv);

}  // namespace culmen
