# What the user may choose. Every value can be given as -DNAME=value.

set(SIXDAYS_CUDA AUTO CACHE STRING
    "nvcc ports: AUTO (if nvcc works), GPU (if a GPU answers too), ON (required), OFF")
set_property(CACHE SIXDAYS_CUDA PROPERTY STRINGS AUTO GPU ON OFF)
option(SIXDAYS_SANITIZE "build host code with the address and undefined-behaviour sanitizers" OFF)
set(SIXDAYS_KERNELS "" CACHE PATH
    "a built tree whose emulator and emulated kernels are linked; with SIXDAYS_SANITIZE, which sees host code alone")
option(SIXDAYS_DEBUG_KERNELS "build emulated kernels for gdb: common/learn debug" OFF)
set(SIXDAYS_NVCC_TOGETHER 1 CACHE STRING "how many .cu files nvcc compiles as one (together.cmake)")
option(BUILD_TESTING "build the Catch2 tests" ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()
