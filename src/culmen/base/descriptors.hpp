// How many files this process may have open.
#pragma once
#include <cstddef>

namespace culmen {

/// While it lives, this process may open `descriptors` more files on its behalf: the soft limit (RLIMIT_NOFILE) is
/// raised where it is too low for all that live, and is what it was after the last of them. Children that spawn()
/// starts get the former soft limit, because select(2) bears no descriptor above 1023. Thread-safe.
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

/// The soft limit that a child is to have; 0 when it is this process's own, which it inherits.
std::size_t childs_descriptor_limit() noexcept;
/// `culmen __exec LIMIT PROGRAM ARGUMENT…`, `argv` from "__exec" on: becomes that program with this soft limit. Returns
/// 127 when it cannot.
int exec_main(int argc, char** argv);

}  // namespace culmen
