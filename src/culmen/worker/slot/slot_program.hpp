// The native slot: a separate process for functions in shared libraries.
#pragma once

namespace culmen {

/// `culmen __slot`: answers evaluations over slot_descriptor until that ends; see channel.hpp. Returns the process's
/// exit code.
int slot_main();

}  // namespace culmen
