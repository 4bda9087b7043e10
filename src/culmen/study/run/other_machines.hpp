// OtherMachines of a C++ program: the run that listens, and the workers that join it.
#pragma once
#include "culmen/study/config/study_config.hpp"
#include "culmen/study/crew/network_crew.hpp"
#include "culmen/study/run/culmen.hpp"
#include "culmen/study/run/run.hpp"

namespace culmen {

/// Throws InputError for settings that contradict each other, or that let strangers join.
void check(const OtherMachines& machines);
/// Makes the token if its file does not exist.
Listening listening_of(const OtherMachines& machines);
/// Calls machines.listening, or prints on standard error how to join.
void announce(const OtherMachines& machines, const Run::Door& door);
/// Evaluates for a run elsewhere until it ends; `slots` at a time, 0: one per CPU. Returns the number of evaluations.
/// Throws InputError if the run refuses the workers, TransportError if it is not reached or they had to leave.
std::uint64_t work_elsewhere(const StudyConfig& config, const OtherMachines& machines, std::size_t slots,
                             const Function& function);

}  // namespace culmen
