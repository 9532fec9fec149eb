/// @file
/// OpenMP's functions for a single thread: the emulator does not support concurrent launches, so
/// `#pragma omp` is ignored, as by a compiler without -fopenmp.
#pragma once

#include <ctime>

inline void omp_set_num_threads(int) {}
inline int omp_get_num_threads() {
    return 1;
}
inline int omp_get_max_threads() {
    return 1;
}
inline int omp_get_num_procs() {
    return 1;
}
inline int omp_get_thread_num() {
    return 0;
}
inline int omp_in_parallel() {
    return 0;
}
inline double omp_get_wtime() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
