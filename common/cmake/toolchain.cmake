# Language standard, warnings, nvcc where it works, Catch2 where it is found.
# What was found is kept in SIXDAYS_HAVE_<X> and, if not, SIXDAYS_WHY_NO_<X>; summary.cmake prints it.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR
        "The C++ compiler is ${CMAKE_CXX_COMPILER_ID} (${CMAKE_CXX_COMPILER}); the emulator that runs "
        "kernels on the CPU needs g++. Install g++ and configure with -DCMAKE_CXX_COMPILER=g++.")
endif()

# Every target of ours links this one: warnings, and arithmetic that does what the source says.
# -ffp-contract=off: a*b + c is rounded twice, unless the source writes std::fma.
add_library(sixdays_flags INTERFACE)
target_include_directories(sixdays_flags INTERFACE ${PROJECT_SOURCE_DIR})
set(warnings -Wall -Wextra -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND warnings -Wno-restrict)  # GCC 12 sees overlap in "a" + std::string (its bug 105651)
endif()
list(JOIN warnings "," host_warnings)
target_compile_options(sixdays_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:${warnings};-Wpedantic;-ffp-contract=off>
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${host_warnings};-lineinfo>")

# Host code under the sanitizers; files with emulated kernels have flags of their own.
add_library(sixdays_host_flags INTERFACE)
target_link_libraries(sixdays_host_flags INTERFACE sixdays_flags)
# Line numbers, so that the emulator can name the line of host code that touches device memory.
target_compile_options(sixdays_host_flags INTERFACE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-g1>)
if(SIXDAYS_SANITIZE)
    # Each access asks a function: asked in place, the same question takes half of the compiler's time.
    set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
        --param=asan-instrumentation-with-call-threshold=0)
    target_compile_options(sixdays_host_flags INTERFACE ${sanitize} -D_GLIBCXX_ASSERTIONS)
    add_link_options(-fsanitize=address,undefined)
endif()

# --- what makes the build faster, where it is found -----------------------------------------------
# ld takes three times as long as lld to link a program, and there are 300.
if(NOT CMAKE_EXE_LINKER_FLAGS MATCHES "-fuse-ld=")  # LDFLAGS is in it
    include(CheckLinkerFlag)
    check_linker_flag(CXX -fuse-ld=lld SIXDAYS_LLD)
    if(SIXDAYS_LLD)
        add_link_options($<HOST_LINK:-fuse-ld=lld>)
    endif()
endif()
find_program(SIXDAYS_CCACHE ccache)
mark_as_advanced(SIXDAYS_CCACHE)
if(SIXDAYS_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # What ccache's manual asks for where headers are precompiled. With comments: a precompiled header knows a
    # header again by its text, so one from before a comment changed would include the header twice.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_COMMENTS=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${SIXDAYS_CCACHE})
endif()

# --- nvcc -----------------------------------------------------------------------------------------
set(SIXDAYS_HAVE_CUDA OFF)
set(SIXDAYS_HAVE_TILE OFF)
set(answers OFF)  # a GPU that is new enough
if(NOT SIXDAYS_CUDA STREQUAL "OFF")
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
        OUTPUT_VARIABLE gpus ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0 AND gpus MATCHES "^([0-9]+)[.]" AND CMAKE_MATCH_1 GREATER_EQUAL 8)
        set(answers ON)
    endif()
endif()
if(SIXDAYS_CUDA STREQUAL "OFF")
    set(SIXDAYS_WHY_NO_CUDA "switched off by SIXDAYS_CUDA=OFF")
elseif(SIXDAYS_CUDA STREQUAL "GPU" AND NOT answers)
    set(SIXDAYS_WHY_NO_CUDA "no GPU answers here (--nvcc compiles for one all the same)")
else()
    # The toolkit's usual place counts even when PATH does not name it.
    if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
        # What `common/learn tile` has brought comes first.
        file(GLOB newest ${PROJECT_SOURCE_DIR}/build/tile-venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc)
        find_program(SIXDAYS_NVCC nvcc PATHS /usr/local/cuda/bin)
        mark_as_advanced(SIXDAYS_NVCC)
        if(newest)
            set(SIXDAYS_NVCC ${newest})
        endif()
        if(SIXDAYS_NVCC)
            set(ENV{CUDACXX} ${SIXDAYS_NVCC})
        endif()
    endif()
    # Architectures: this machine's GPU if it is new enough, else 80, whose PTX every newer GPU runs.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
        if(answers)
            set(CMAKE_CUDA_ARCHITECTURES native)
        else()
            set(CMAKE_CUDA_ARCHITECTURES 80)
        endif()
    endif()
    foreach(arch IN LISTS CMAKE_CUDA_ARCHITECTURES)
        if(arch MATCHES "^([0-9]+)" AND CMAKE_MATCH_1 LESS 80)
            message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES=${arch}: the lessons need compute capability "
                "8.0 (Ampere) or newer, so 80 is the least; without such a GPU use -DSIXDAYS_CUDA=OFF, "
                "and every port runs on the CPU emulator.")
        endif()
    endforeach()
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        enable_language(CUDA)
        find_package(CUDAToolkit REQUIRED)
        set(CMAKE_CUDA_STANDARD 20)
        if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc 12 has it
            set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
            set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
        endif()
        set(CMAKE_CUDA_STANDARD_REQUIRED ON)
        set(SIXDAYS_HAVE_CUDA ON)
        if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.3)
            set(SIXDAYS_HAVE_TILE ON)  # CUDA Tile C++
        endif()
    elseif(SIXDAYS_CUDA STREQUAL "ON")
        message(FATAL_ERROR "SIXDAYS_CUDA=ON, but no working nvcc was found: put the CUDA Toolkit's bin "
            "folder on PATH, or give -DCMAKE_CUDA_COMPILER=/path/to/nvcc.")
    else()
        set(SIXDAYS_WHY_NO_CUDA "no working nvcc was found")
    endif()
endif()
set(SIXDAYS_BUILT_WITH_NVCC ${SIXDAYS_HAVE_CUDA} CACHE INTERNAL "common/learn asks for it")

# --- Catch2, 3.x or 2.13 --------------------------------------------------------------------------
set(SIXDAYS_HAVE_CATCH2 OFF)
if(NOT BUILD_TESTING)
    set(SIXDAYS_WHY_NO_CATCH2 "switched off by BUILD_TESTING=OFF")
else()
    find_package(Catch2 3 QUIET)
    if(NOT Catch2_FOUND)
        find_package(Catch2 2.13 QUIET)
    endif()
    if(Catch2_FOUND)
        set(SIXDAYS_HAVE_CATCH2 ON)
    else()
        set(SIXDAYS_WHY_NO_CATCH2 "Catch2 was not found: apt install catch2")
    endif()
endif()

# --- libpng, for --png ----------------------------------------------------------------------------
find_package(PNG QUIET)

# --- PCRE2, for day06's tokenizer -----------------------------------------------------------------
find_path(SIXDAYS_PCRE2_INCLUDE pcre2.h)
find_library(SIXDAYS_PCRE2_LIBRARY pcre2-8)
mark_as_advanced(SIXDAYS_PCRE2_INCLUDE SIXDAYS_PCRE2_LIBRARY)
set(SIXDAYS_HAVE_PCRE2 OFF)
if(SIXDAYS_PCRE2_INCLUDE AND SIXDAYS_PCRE2_LIBRARY)
    set(SIXDAYS_HAVE_PCRE2 ON)
else()
    set(SIXDAYS_WHY_NO_PCRE2 "PCRE2 was not found: apt install libpcre2-dev")
endif()
