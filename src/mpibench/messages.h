// Counts the messages that the MPI plans for nonblocking collectives: they show which algorithm runs.
#pragma once
#include <stdint.h>

// The number of messages that this rank sends in collectives, since the last reset; always 0 if the MPI does not show
// them.
int64_t planned_messages(void);
void reset_messages(void);
