// The master that owns a study's file. It is a row in the file, not a lock: after a crash nothing must be cleaned
// up.
#pragma once
#include <optional>
#include <string>

#include "culmen/base/ids.hpp"
#include "culmen/base/process.hpp"

namespace culmen {

struct Owner {
  std::string host;
  std::string boot;               ///< the kernel's boot id
  std::string process_namespace;  ///< of the process id: containers share the boot id
  ProcessId process;
  Epoch epoch = 0;
  double renewed_s = 0;  ///< seconds since 1970

  /// "host node7, process 4711"
  std::string name() const;
};

/// This process, with epoch 0 and the present time.
Owner this_owner();

enum class Vitality {
  alive,
  dead,
  silent,  ///< cannot be examined from here, but has renewed its row less than 60 s ago
};

/// Judges from `self`: in the same boot and process namespace by process id and start time; another boot of the same
/// host is dead; any other is dead after 60 s of silence. A master in this very process counts as alive: callers that
/// know better must check first.
Vitality judge(const Owner& owner, const Owner& self);

/// Seconds of silence after which an owner that cannot be examined counts as dead.
inline constexpr double owner_silence_s = 60;

}  // namespace culmen
