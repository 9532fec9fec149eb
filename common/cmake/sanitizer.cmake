# NVIDIA's compute-sanitizer over what nvcc built: label `sanitizer`, asked for by
#
#   common/learn test --sanitizer [day]     or     ctest --preset sanitizer
#
# They take minutes a tool (on an H200 racecheck alone 90 to 250 s for one day's small cases), so a plain
# ctest does not see them (CONFIGURATIONS). A process waits for the tool far more than for the GPU, so one
# runs for each four cores; each ends within its TIMEOUT. With 32 cores, thus eight at a time, everything
# but Day 05 and training did not end in 400 s: ask for one day. The target sanitizer_programs builds
# what they run.

add_custom_target(sanitizer_programs)
find_program(SIXDAYS_COMPUTE_SANITIZER compute-sanitizer
    HINTS ${CUDAToolkit_BIN_DIR} /usr/local/cuda/bin)
mark_as_advanced(SIXDAYS_COMPUTE_SANITIZER)
find_package(Python3 QUIET COMPONENTS Interpreter)
set(SIXDAYS_WHY_NO_SANITIZER "")
if(NOT SIXDAYS_HAVE_CUDA)
    set(SIXDAYS_WHY_NO_SANITIZER "${SIXDAYS_WHY_NO_CUDA}")
elseif(NOT SIXDAYS_COMPUTE_SANITIZER)
    set(SIXDAYS_WHY_NO_SANITIZER "compute-sanitizer was not found; it is a part of the CUDA Toolkit")
elseif(NOT Python3_FOUND)
    set(SIXDAYS_WHY_NO_SANITIZER "python3 was not found, which reads what compute-sanitizer says")
endif()

# sixdays_add_sanitizer_test(<name> <label> <seconds> <command>...)
function(sixdays_add_sanitizer_test name label seconds)
    if(SIXDAYS_WHY_NO_SANITIZER)
        add_test(NAME ${name} CONFIGURATIONS sanitizer COMMAND ${CMAKE_COMMAND}
            "-DWHY=${SIXDAYS_WHY_NO_SANITIZER}" -P ${PROJECT_SOURCE_DIR}/common/cmake/skip.cmake)
        set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED: ")
    else()
        add_test(NAME ${name} CONFIGURATIONS sanitizer COMMAND ${ARGN})
        set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 4 PROCESSORS 4
            TIMEOUT ${seconds})
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${label};sanitizer")
endfunction()

# sixdays_sanitize_tests(<test program> <label> <test>): its small cases under each tool, and no tool
# may find anything. With Catch2 3 in four parts: racecheck takes minutes for a day's.
function(sixdays_sanitize_tests program label test)
    if(TARGET ${program})
        add_dependencies(sanitizer_programs ${program})
    endif()
    foreach(tool memcheck racecheck initcheck synccheck)
        set(watched ${SIXDAYS_COMPUTE_SANITIZER} --tool ${tool} --error-exitcode 1)
        if(tool STREQUAL memcheck)  # rejected calls are tested on purpose
            list(APPEND watched --report-api-errors no)
        endif()
        list(APPEND watched $<TARGET_FILE:${program}> "[small]")
        if(Catch2_VERSION VERSION_LESS 3)
            sixdays_add_sanitizer_test(${test}.sanitizer.${tool} ${label} 3600 ${watched})
            continue()
        endif()
        foreach(part RANGE 3)
            sixdays_add_sanitizer_test(${test}.sanitizer.${tool}.${part} ${label} 1200 ${watched}
                --shard-count 4 --shard-index ${part} --allow-running-no-tests)
        endforeach()
    endforeach()
endfunction()

# sixdays_sanitize_wrong(<program> <label> <test> <source>): the tool that the wrong kernel names in its line
# `sanitizer: racecheck` must find its mistake. Most name none: lanes, values and what stays between guard
# bands are nothing to these tools.
function(sixdays_sanitize_wrong program label test source)
    file(STRINGS ${source} tool REGEX "^(// )?sanitizer: ")
    if(tool STREQUAL "")
        return()
    endif()
    string(REGEX REPLACE ".*sanitizer: *" "" tool "${tool}")
    if(TARGET ${program})
        add_dependencies(sanitizer_programs ${program})
    endif()
    sixdays_add_sanitizer_test(${test} ${label} 300 ${Python3_EXECUTABLE} -B
        ${PROJECT_SOURCE_DIR}/common/emulator/tests/beside_gpu/wrong_kernels.py
        --sanitizer ${SIXDAYS_COMPUTE_SANITIZER} --tool ${tool} --source ${source}
        $<TARGET_FILE_DIR:${program}> ${program})
endfunction()
