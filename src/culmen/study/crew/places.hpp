// Makers of the workplaces in the table of places.
#pragma once
#include <memory>

#include "culmen/study/crew/workplace.hpp"

namespace culmen {

/// The ranks in an MPI launch, otherwise threads.
std::unique_ptr<Workplace> make_automatic_place(const WorkersWanted& wanted);
/// Threads of the master. An isolated evaluator has a child process for each of them.
std::unique_ptr<Workplace> make_thread_place(const WorkersWanted& wanted);
/// Native worker processes.
std::unique_ptr<Workplace> make_process_place(const WorkersWanted& wanted);
/// The ranks of an MPI launch but the first.
std::unique_ptr<Workplace> make_rank_place(const WorkersWanted& wanted);
/// The program's own workers. Throws InputError if none are lent.
std::unique_ptr<Workplace> make_lent_place(const WorkersWanted& wanted);

}  // namespace culmen
