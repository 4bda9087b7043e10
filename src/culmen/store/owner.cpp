#include "culmen/store/owner.hpp"

#include <fmt/format.h>

#include "culmen/base/clock.hpp"
#include "culmen/base/machine.hpp"

namespace culmen {

std::string Owner::name() const { return fmt::format("host {}, process {}", host, process.pid); }

Owner this_owner() { return {host_name(), boot_id(), process_namespace(), this_process(), 0, wall_clock_s()}; }

Vitality judge(const Owner& owner, const Owner& self) {
  if (owner.boot == self.boot && owner.process_namespace == self.process_namespace)
    return alive(owner.process) ? Vitality::alive : Vitality::dead;
  if (owner.boot != self.boot && owner.host == self.host) return Vitality::dead;
  return self.renewed_s - owner.renewed_s > owner_silence_s ? Vitality::dead : Vitality::silent;
}

}  // namespace culmen
