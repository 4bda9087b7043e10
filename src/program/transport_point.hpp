// One point of `culmen bench transport`: a whole run with workers of its own, and what it measured.
#pragma once

namespace culmen {

/// `__point TRANSPORT WORKERS COST DURATION_S PREFETCH IO_THREADS SECONDS LIBRARY`, as rank 0 of a launch if TRANSPORT
/// is mpi. Prints one JSON line; PointMeasured in python/culmen/bench/transport/point.py explains it.
int point_main(int argc, char** argv);

/// `__point_worker ADDRESS FINGERPRINT COST LIBRARY`: a worker that joins.
int point_worker_main(int argc, char** argv);

}  // namespace culmen
