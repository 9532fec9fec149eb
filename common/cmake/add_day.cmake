# add_day([USES <earlier day>...] [LIBRARIES <library>...]), called in a day's folder: everything that
# is built for one lesson. File names say what is what:
#
#   <set>_cpu.cpp  *.cpp  loops and other host code      -> <day>_loops
#   <set>_cuda.cu  steps/<op>/*.cu   ports               -> <day>_ports_emulated, <day>_ports_cuda
#   main.cpp              the lesson as a run            -> <day>_emulated, <day>
#   bench/*.cpp           what is timed, and what only --bench measures; linked with main.cpp
#   tests/*.cpp           Catch2 cases                   -> <day>_tests_emulated, <day>_tests_cuda
#   wrong/*.cu            kernels with one planted mistake; the tests must refuse each
#   exercises/<name>/     <name>.hpp, *.cpp, stub.cu, solution.cu, tests.cpp, hints.md
#
# main.cpp and tests/ are compiled once and linked to either ports library, never to both.
# A learner's own port, my/<day>/<name>.cu, is built in place of an exercise's stub.

include(${PROJECT_SOURCE_DIR}/common/emulator/emulate.cmake)

add_custom_target(lessons)  # the executables of all days, without the tests
add_custom_target(wrong_on_gpu)

# sixdays_executable(<name> <gpu library> <source or object library>... [LIBRARIES <library>...])
function(sixdays_executable name gpu)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBRARIES")
    add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
    target_link_libraries(${name} PRIVATE sixdays_host_flags ${arg_LIBRARIES} ${gpu})
    # What calls the gpu library without knowing which one it will be (see sixdays_needs_gpu) finds
    # its name here.
    set_target_properties(${name} PROPERTIES SIXDAYS_GPU ${gpu})
endfunction()

# sixdays_needs_gpu(<library>): it calls the gpu library that the executable names.
function(sixdays_needs_gpu library)
    target_link_libraries(${library} INTERFACE $<TARGET_PROPERTY:SIXDAYS_GPU>)
endfunction()

# sixdays_object(<name> <source>...): host files compiled once, for two executables.
function(sixdays_object name)
    add_library(${name} OBJECT ${ARGN})
    target_link_libraries(${name} PRIVATE sixdays_host_flags)
endfunction()

# sixdays_expect_status(<name> <label> <status> <words> <program> <argument>...): a test that runs the
# program and wants this exit status and, somewhere in what it prints, these words.
function(sixdays_expect_status name label status words)
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} "-DPROGRAM=${ARGN}" -DSTATUS=${status}
        "-DWORDS=${words}" -P ${PROJECT_SOURCE_DIR}/common/cmake/expect_status.cmake)
    set_tests_properties(${name} PROPERTIES LABELS "${label};small")
endfunction()

# One add_test per day, backend and tier; a tier is a Catch2 tag, and ctest -L day01 runs a day.
# Without nvcc the GPU entries are still there, Skipped with the reason.
function(sixdays_add_day_tests day label)
    foreach(tier small full)
        add_test(NAME ${label}.emulated.${tier} COMMAND ${day}_tests_emulated "[${tier}]")
        set_tests_properties(${label}.emulated.${tier} PROPERTIES
            LABELS "${label};emulated;${tier}" SKIP_RETURN_CODE 4)
    endforeach()
    foreach(tier small full huge)
        set(name ${label}.cuda.${tier})
        if(SIXDAYS_HAVE_CUDA)
            add_test(NAME ${name} COMMAND ${day}_tests_cuda "[${tier}]")
            set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 4 RESOURCE_LOCK gpu)
        else()
            sixdays_add_skipped_gpu_test(${name})
        endif()
        set_tests_properties(${name} PROPERTIES LABELS "${label};gpu;${tier}")
    endforeach()
endfunction()

# A test that cannot run here is shown as Skipped, with the reason.
function(sixdays_add_skipped_test name why)
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: ${why}")
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED: ")
endfunction()

# The same of one that needs nvcc and a GPU; where a GPU is required, it fails.
function(sixdays_add_skipped_gpu_test name)
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} "-DWHY=${SIXDAYS_WHY_NO_CUDA}"
        -P ${PROJECT_SOURCE_DIR}/common/cmake/skip.cmake)
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED: ")
endfunction()

# An exercise: the same cases run against the stub (must be refused), against the solution (must
# pass), and, by `learn check`, against the learner's own file.
function(sixdays_add_exercise day label name)
    set(folder ${PROJECT_SOURCE_DIR}/${day}/exercises/${name})
    set(prefix ${label}_${name})
    # An unfinished port does not use what it is given yet.
    set(unfinished -Wno-unused-parameter -Wno-unused-variable -Wno-unused-function)
    file(GLOB loops CONFIGURE_DEPENDS ${folder}/*.cpp)
    list(REMOVE_ITEM loops ${folder}/tests.cpp)
    sixdays_test_object(${prefix}_cases ${folder}/tests.cpp ${loops})
    set_source_files_properties(${loops} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

    foreach(who stub solution)
        sixdays_emulated_library(${prefix}_${who}_port ${folder}/${who}.cu)
        sixdays_executable(${prefix}_${who} sixdays_gpu_emulated $<TARGET_OBJECTS:${prefix}_cases>
            LIBRARIES sixdays_testing_main sixdays_testing ${prefix}_${who}_port)
    endforeach()
    target_compile_options(${prefix}_stub_port PRIVATE ${unfinished})
    add_test(NAME ${label}.exercise.${name}.solution COMMAND ${prefix}_solution)
    add_test(NAME ${label}.exercise.${name}.stub COMMAND ${CMAKE_COMMAND}
        -DPROGRAM=$<TARGET_FILE:${prefix}_stub>
        -P ${PROJECT_SOURCE_DIR}/common/cmake/expect_refusal.cmake)
    set_tests_properties(${label}.exercise.${name}.solution ${label}.exercise.${name}.stub
        PROPERTIES LABELS "${label};exercise;small")

    # The learner starts from the stub and meets the solution's frame in it: outside of the marked
    # gaps the two files must be the same.
    add_test(NAME ${label}.exercise.${name}.gaps COMMAND ${CMAKE_COMMAND}
        -DSTUB=${folder}/stub.cu -DSOLUTION=${folder}/solution.cu
        -P ${PROJECT_SOURCE_DIR}/common/cmake/same_outside_gaps.cmake)
    set_tests_properties(${label}.exercise.${name}.gaps PROPERTIES LABELS "${label};exercise;small")

    if(SIXDAYS_HAVE_CUDA)
        add_library(${prefix}_stub_port_cuda STATIC ${folder}/stub.cu)  # nvcc takes it too
        target_link_libraries(${prefix}_stub_port_cuda PRIVATE sixdays_flags)
        list(TRANSFORM unfinished PREPEND -Xcompiler= OUTPUT_VARIABLE unfinished_host)
        target_compile_options(${prefix}_stub_port_cuda PRIVATE ${unfinished_host})
        add_library(${prefix}_solution_port_cuda STATIC ${folder}/solution.cu)
        target_link_libraries(${prefix}_solution_port_cuda PRIVATE sixdays_flags)
        sixdays_executable(${prefix}_solution_cuda sixdays_gpu_cuda
            $<TARGET_OBJECTS:${prefix}_cases>
            LIBRARIES sixdays_testing_main sixdays_testing ${prefix}_solution_port_cuda)
        add_test(NAME ${label}.exercise.${name}.solution.cuda COMMAND ${prefix}_solution_cuda)
        set_tests_properties(${label}.exercise.${name}.solution.cuda PROPERTIES
            LABELS "${label};exercise;gpu;small" SKIP_RETURN_CODE 4 RESOURCE_LOCK gpu)
    endif()

    # The learner's file may be broken at any time, so nothing but `learn check` builds it.
    set(mine ${PROJECT_SOURCE_DIR}/my/${day}/${name}.cu)
    if(EXISTS ${mine})
        sixdays_emulated_library(my_${prefix}_port ${mine})
        sixdays_executable(my_${prefix} sixdays_gpu_emulated $<TARGET_OBJECTS:${prefix}_cases>
            LIBRARIES sixdays_testing_main sixdays_testing my_${prefix}_port)
        set_target_properties(my_${prefix}_port my_${prefix} PROPERTIES EXCLUDE_FROM_ALL ON)
        target_compile_options(my_${prefix}_port PRIVATE ${unfinished})
    endif()
endfunction()

# wrong/<name>.cu defines one of the day's ports, with one planted mistake. The day's test program is
# linked a second time with it in front of the right one, and must refuse it. Emulator only: on a
# GPU an illegal access would end the process.
function(sixdays_add_wrong day label name)
    set(source ${PROJECT_SOURCE_DIR}/${day}/wrong/${name}.cu)
    set(program ${label}_wrong_${name})
    sixdays_emulated_library(${program}_port ${source})
    sixdays_executable(${program} sixdays_gpu_emulated $<TARGET_OBJECTS:${day}_tests>
        $<TARGET_OBJECTS:${program}_port>
        LIBRARIES sixdays_emulator sixdays_testing_main sixdays_testing ${day}_ports_emulated)
    # The first definition counts: that of the wrong port.
    target_link_options(${program} PRIVATE -Wl,--allow-multiple-definition)
    add_test(NAME ${label}.wrong.${name} COMMAND ${CMAKE_COMMAND}
        -DPROGRAM=$<TARGET_FILE:${program}> -DSOURCE=${source}
        -P ${PROJECT_SOURCE_DIR}/common/cmake/expect_finding.cmake)
    set_tests_properties(${label}.wrong.${name} PROPERTIES LABELS "${label};wrong;small")

    # On a GPU an illegal access ends the process, so these programs are no tests. compute-sanitizer
    # watches each (common/emulator/compare/sanitizer.py); the target wrong_on_gpu builds them all.
    if(SIXDAYS_HAVE_CUDA)
        sixdays_executable(${program}_gpu sixdays_gpu_cuda $<TARGET_OBJECTS:${day}_tests> ${source}
            LIBRARIES sixdays_testing_main sixdays_testing ${day}_ports_cuda)
        target_link_options(${program}_gpu PRIVATE -Wl,--allow-multiple-definition)
        set_target_properties(${program}_gpu PROPERTIES EXCLUDE_FROM_ALL ON)
        add_dependencies(wrong_on_gpu ${program}_gpu)
    endif()
endfunction()

function(add_day)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "USES;LIBRARIES")
    set(folder ${CMAKE_CURRENT_SOURCE_DIR})
    get_filename_component(day ${folder} NAME)          # day01_flat_memory
    string(REGEX MATCH "^day[0-9][0-9]" label ${day})   # day01
    file(GLOB ports CONFIGURE_DEPENDS ${folder}/*_cuda.cu ${folder}/steps/*/*.cu)
    file(GLOB loops CONFIGURE_DEPENDS ${folder}/*.cpp)
    file(GLOB bench CONFIGURE_DEPENDS ${folder}/bench/*.cpp)
    file(GLOB tests CONFIGURE_DEPENDS ${folder}/tests/*.cpp)
    list(REMOVE_ITEM loops ${folder}/main.cpp)

    add_library(${day}_loops STATIC ${loops})
    target_link_libraries(${day}_loops PUBLIC sixdays_tensor ${arg_LIBRARIES}
        PRIVATE sixdays_host_flags)

    # The ports, by the C++ compiler for the emulator and by nvcc for the GPU.
    sixdays_emulated_library(${day}_ports_emulated ${ports})
    target_link_libraries(${day}_ports_emulated PUBLIC ${day}_loops)
    set(native sixdays_gpu_emulated)
    set(native_ports ${day}_ports_emulated)
    if(SIXDAYS_HAVE_CUDA)
        add_library(${day}_ports_cuda STATIC ${ports})
        target_link_libraries(${day}_ports_cuda PUBLIC ${day}_loops PRIVATE sixdays_flags)
        set(native sixdays_gpu_cuda)
        set(native_ports ${day}_ports_cuda)
    endif()

    # A port may call ports of earlier days, on the same device.
    foreach(earlier IN LISTS arg_USES)
        target_link_libraries(${day}_loops PUBLIC ${earlier}_loops)
        target_link_libraries(${day}_ports_emulated PUBLIC ${earlier}_ports_emulated)
        if(SIXDAYS_HAVE_CUDA)
            target_link_libraries(${day}_ports_cuda PUBLIC ${earlier}_ports_cuda)
        endif()
    endforeach()

    # The lesson as a run.
    sixdays_object(${day}_main ${folder}/main.cpp ${bench})
    target_compile_options(${day}_main PRIVATE -O1)  # what is timed is in the libraries
    sixdays_executable(${day}_emulated sixdays_gpu_emulated $<TARGET_OBJECTS:${day}_main>
        LIBRARIES ${day}_ports_emulated sixdays_lesson)
    sixdays_executable(${day} ${native} $<TARGET_OBJECTS:${day}_main>
        LIBRARIES ${native_ports} sixdays_lesson)
    add_dependencies(lessons ${day}_emulated ${day})

    set(program $<TARGET_FILE:${day}_emulated>)
    sixdays_expect_status(${label}.run ${label} 0 "checks of this run are ok" ${program} --no-timing)
    sixdays_expect_status(${label}.run.help ${label} 0 "--no-timing" ${program} --help)
    sixdays_expect_status(${label}.run.unknown_flag ${label} 2 "is not a flag" ${program} --speed)
    sixdays_expect_status(${label}.run.bench_needs_gpu ${label} 1 "needs a GPU" ${program} --bench)
    sixdays_expect_status(${label}.run.full_disk ${label} 1 "arrived at its output"
        sh -c "exec '${program}' --no-timing >/dev/full")
    sixdays_expect_status(${label}.run.trace ${label} 0 "requests" ${program} --trace)

    if(NOT SIXDAYS_HAVE_CATCH2)
        return()
    endif()
    sixdays_test_object(${day}_tests ${tests})
    sixdays_executable(${day}_tests_emulated sixdays_gpu_emulated $<TARGET_OBJECTS:${day}_tests>
        LIBRARIES sixdays_testing_main sixdays_testing ${day}_ports_emulated)
    if(SIXDAYS_HAVE_CUDA)
        sixdays_executable(${day}_tests_cuda sixdays_gpu_cuda $<TARGET_OBJECTS:${day}_tests>
            LIBRARIES sixdays_testing_main sixdays_testing ${day}_ports_cuda)
    endif()
    sixdays_add_day_tests(${day} ${label})

    file(GLOB wrong CONFIGURE_DEPENDS RELATIVE ${folder}/wrong ${folder}/wrong/*.cu)
    if(SIXDAYS_SANITIZE)
        set(wrong "")  # they prove what the tests refuse, and a sanitizer adds nothing to that
    endif()
    foreach(kernel IN LISTS wrong)
        string(REPLACE ".cu" "" kernel ${kernel})
        sixdays_add_wrong(${day} ${label} ${kernel})
    endforeach()

    file(GLOB stubs CONFIGURE_DEPENDS ${folder}/exercises/*/stub.cu)
    foreach(stub IN LISTS stubs)
        cmake_path(GET stub PARENT_PATH exercise)
        cmake_path(GET exercise FILENAME exercise)
        sixdays_add_exercise(${day} ${label} ${exercise})
    endforeach()
endfunction()
