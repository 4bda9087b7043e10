// The launcher that started this process, from its environment alone (no MPI call).
#pragma once
#include <string>

namespace culmen {

enum class LauncherKind {
  none,
  openmpi,
  mpich,
  slurm
};  // mpich: Hydra or Intel's (PMI_RANK); slurm: srun without PMI variables that name an MPI

struct Launch {
  LauncherKind kind = LauncherKind::none;
  int rank = 0;  ///< the launcher's number
  int size = 1;
  int here = 1;  ///< ranks on this node, as far as the launcher says; otherwise all of them
  bool is_rank() const { return kind != LauncherKind::none; }
};

/// Open MPI: OMPI_COMM_WORLD_RANK/SIZE/LOCAL_SIZE. MPICH and Intel: PMI_RANK/PMI_SIZE, MPI_LOCALNRANKS. srun:
/// SLURM_PROCID/SLURM_STEP_NUM_TASKS, only if SLURM_STEP_ID is set and the step is not the batch script itself.
/// Ranks of this node in a step of Slurm: SLURM_STEP_TASKS_PER_NODE and SLURM_NODEID, whichever MPI runs in it.
/// Children of culmen (CULMEN_RUN set) are never ranks.
Launch detect_launch();

}  // namespace culmen
