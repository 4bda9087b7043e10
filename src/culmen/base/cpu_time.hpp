// CPU time that a thread has used.
#pragma once

namespace culmen {

/// Seconds of the calling thread.
double thread_cpu_s();

}  // namespace culmen
