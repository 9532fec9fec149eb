# add_room([USES <room>...] [LIBRARIES <library>...] [WITHOUT <file>...] [TIERS <tier>...]), called in a
# room's folder: everything that is built of one set of operations. A day is a room (add_day.cmake), and
# Day 06 has rooms of its own:
#
#   day06_transformer_ops/softmax/CMakeLists.txt   add_room(USES day04_argmax)
#   day06_transformer_ops/CMakeLists.txt           add_subdirectory(softmax), and so on, lower rooms first;
#                                                  then add_day(USES day06_softmax ...)
#
# File names say what is what; each of them may be missing:
#
#   <set>_cpu.cpp  *.cpp                     loops and other host code  -> <room>_loops
#   <set>_cuda.cu  *.cu                      ports                      -> <room>_ports_emulated,
#   steps/*.cu  steps/<op>/*.cu  steps/<op>/further/*.cu                   <room>_ports_cuda (with nvcc)
#   steps/<op>/hopper/*.cu                   the same, and compiled for sm_90a besides
#   <set>_tile.cu                            tile ports: always for the emulator, by nvcc from 13.3 on
#   tests/*.cpp                              Catch2 cases               -> <room>_tests_emulated,
#                                                                          <room>_tests_cuda
#   wrong/*.patch  *.cu                      one mistake each, planted in a right file (wrong.cmake); the
#                                            tests must reject it
#
# main.cpp and standalone*.cu are programs, not parts of a library: they are left out here.
#
# Names follow from the folder:
#
#   folder                              room            label  test, for example
#   day05_matmul                        day05_matmul    day05  day05.emulated.small
#   day06_transformer_ops/softmax       day06_softmax   day06  day06.softmax.emulated.small
#   day06_transformer_ops/gpt2/file     day06_gpt2_file day06  day06.gpt2.file.emulated.small
#
#   USES       rooms whose headers and ports this one calls: USES day05_matmul day06_norm. They are linked
#              for the same device; what they use comes with them. Their folders are added before.
#   LIBRARIES  what the loops link besides: LIBRARIES Threads::Threads
#   WITHOUT    files of this folder that are not built here: WITHOUT pre_split.cpp tests/tokenizer.cpp
#   TIERS      tiers that must have a case. Without it there is a test for each tier that a tag in
#              tests/*.cpp names, [small], [full] or [huge]. CMake looks again when such a file changes.
#              Cases that have [kernels] too are about ports by every path; the sanitizers leave them out.
#
# Up to eight files of tests/ are compiled as one, in two thirds of the time: what they compare, they compare by
# the same templates. One whose names are also another's (`using P = ...;` in namespace {}) stays alone:
# set_source_files_properties(tests/x.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON).
#
# Ports libraries are there for every room (empty if it has no .cu), so any room can be named in USES. Its
# tests run on a GPU too if it or a room that it uses has a port. If host code of a room calls the gpu
# library (a Buffer, a Graph), say sixdays_needs_gpu(<room>_loops) after add_room(). Properties of single
# targets (definitions, include folders) are set after it too: target_compile_definitions(<room>_tests
# PRIVATE ...) for the cases.

include(${PROJECT_SOURCE_DIR}/common/emulator/emulate.cmake)
include(${PROJECT_SOURCE_DIR}/common/cmake/tiers.cmake)
include(${PROJECT_SOURCE_DIR}/common/cmake/wrong.cmake)
include(${PROJECT_SOURCE_DIR}/common/cmake/sanitizer.cmake)
include(${PROJECT_SOURCE_DIR}/common/cmake/together.cmake)

add_custom_target(wrong_on_gpu)
file(TOUCH ${PROJECT_BINARY_DIR}/nothing.cpp)  # the source of a library that has none

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

# sixdays_room_names(<folder>): sets label (day06), room (day06_softmax), prefix of further targets
# (day06_softmax; a day's is its label) and test (day06.softmax).
function(sixdays_room_names folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    string(REGEX MATCH "^day[0-9][0-9]" label ${path})
    if(path MATCHES "^[^/]+(/.+)$")
        string(REPLACE "/" "_" prefix "${label}${CMAKE_MATCH_1}")
        string(REPLACE "/" "." test "${label}${CMAKE_MATCH_1}")
        set(room ${prefix})
    else()
        set(room ${path})
        set(prefix ${label})
        set(test ${label})
    endif()
    foreach(name label room prefix test)
        set(${name} ${${name}} PARENT_SCOPE)
    endforeach()
endfunction()

# One add_test per room, device and tier, if a case has that tag; ctest -L day01 runs a day. Without
# nvcc the GPU's entries are still there, Skipped with the reason. The emulated ones take longest of all
# tests, so they start first (COST) and no core idles at the end. Those on the GPU run one at a time, so they
# start even before them.
function(sixdays_add_tier_tests room label test tiers has_ports)
    foreach(tier IN LISTS tiers)
        if(NOT tier STREQUAL huge)
            set(cases "[${tier}]")
            if(SIXDAYS_SANITIZE)
                string(APPEND cases "~[kernels]")  # they take long, and it sees host code alone
            endif()
            add_test(NAME ${test}.emulated.${tier} COMMAND ${room}_tests_emulated ${cases})
            set_tests_properties(${test}.emulated.${tier} PROPERTIES
                LABELS "${label};emulated;${tier}" SKIP_RETURN_CODE 4 COST 100)
        endif()
        if(NOT has_ports)
            continue()
        endif()
        set(name ${test}.cuda.${tier})
        if(SIXDAYS_HAVE_CUDA)
            add_test(NAME ${name} COMMAND ${room}_tests_cuda "[${tier}]")
            set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 4 RESOURCE_LOCK gpu COST 300)
        else()
            sixdays_add_skipped_gpu_test(${name})
        endif()
        set_tests_properties(${name} PROPERTIES LABELS "${label};gpu;${tier}")
    endforeach()
endfunction()

# A file of ports with one planted mistake. The room's test program is linked a second time with it in
# front of the right one, and must reject it. Emulator only: on a GPU an illegal access would end the
# process.
function(sixdays_add_wrong room label prefix test source)
    cmake_path(GET source STEM name)
    set(program ${prefix}_wrong_${name})
    # The pages show what the tests say of some of them (docs.cmake).
    set_property(GLOBAL APPEND PROPERTY SIXDAYS_WRONG "${program}=${source}")
    if(NOT TARGET ${room}_tests)
        return()  # no Catch2
    endif()
    sixdays_planted(${source} ${program} planted)
    sixdays_emulated_objects(${program}_port ${planted})
    sixdays_executable(${program} sixdays_gpu_emulated $<TARGET_OBJECTS:${room}_tests>
        $<TARGET_OBJECTS:${program}_port>
        LIBRARIES sixdays_emulator sixdays_testing_main sixdays_testing ${room}_ports_emulated)
    # The first definition counts: that of the wrong port.
    target_link_options(${program} PRIVATE -Wl,--allow-multiple-definition)
    add_test(NAME ${test}.wrong.${name} COMMAND ${CMAKE_COMMAND}
        -DPROGRAM=$<TARGET_FILE:${program}> -DSOURCE=${source} -DPLANTED=${planted}
        -P ${PROJECT_SOURCE_DIR}/common/cmake/expect_finding.cmake)
    set_tests_properties(${test}.wrong.${name} PROPERTIES LABELS "${label};wrong;small")

    if(planted MATCHES "/[a-z][^/]*_tile[.]cu$")
        return()  # compute-sanitizer looks at threads, and a tile kernel has none
    endif()
    # On a GPU an illegal access ends the process. compute-sanitizer watches those that it can see
    # (sanitizer.cmake); wrong_on_gpu builds all, for common/emulator/tests/beside_gpu/wrong_kernels.py.
    if(SIXDAYS_HAVE_CUDA)
        sixdays_executable(${program}_gpu sixdays_gpu_cuda $<TARGET_OBJECTS:${room}_tests>
            ${planted} LIBRARIES sixdays_testing_main sixdays_testing ${room}_ports_cuda)
        target_link_options(${program}_gpu PRIVATE -Wl,--allow-multiple-definition)
        set_target_properties(${program}_gpu PROPERTIES EXCLUDE_FROM_ALL ON)
        add_dependencies(wrong_on_gpu ${program}_gpu)
    endif()
    sixdays_sanitize_wrong(${program}_gpu ${label} ${test}.sanitizer.wrong.${name} ${source})
endfunction()

# sixdays_tile_ports(<variable> <file>...): the files that nvcc compiles, tile ports with what they need,
# or without them if it is too old. The dispatchers know (common/gpu/tile.hpp).
function(sixdays_tile_ports variable)
    set(tiles ${ARGN})
    list(FILTER tiles INCLUDE REGEX "/[a-z][^/]*_tile[.]cu$")  # not steps/.../03_shared_tile.cu
    set(others ${ARGN})
    if(SIXDAYS_HAVE_TILE)
        set_source_files_properties(${tiles} PROPERTIES COMPILE_OPTIONS --enable-tile)
    else()
        list(REMOVE_ITEM others ${tiles} "")
    endif()
    set(${variable} ${others} PARENT_SCOPE)
endfunction()

# sixdays_hopper_ports(<file>...): those of a folder hopper/ use instructions that only Hopper has, and nvcc
# knows them for the architecture 90a alone. So they are compiled for it besides; for all others their
# kernels are empty (gpu::kHopper), and nobody launches them (gpu::on_hopper()).
function(sixdays_hopper_ports)
    set(hopper ${ARGN})
    list(FILTER hopper INCLUDE REGEX "/hopper/[^/]*[.]cu$")
    if(hopper AND NOT CMAKE_CUDA_ARCHITECTURES MATCHES "90a")
        set_source_files_properties(${hopper} PROPERTIES
            COMPILE_OPTIONS "--generate-code=arch=compute_90a,code=sm_90a")
    endif()
endfunction()

function(add_room)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "USES;LIBRARIES;WITHOUT;TIERS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "add_room() and add_day() do not know: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    set(folder ${CMAKE_CURRENT_SOURCE_DIR})
    sixdays_room_names(${folder})
    file(GLOB ports CONFIGURE_DEPENDS ${folder}/*.cu ${folder}/steps/*.cu ${folder}/steps/*/*.cu
        ${folder}/steps/*/further/*.cu ${folder}/steps/*/hopper/*.cu)
    file(GLOB loops CONFIGURE_DEPENDS ${folder}/*.cpp)
    file(GLOB tests CONFIGURE_DEPENDS ${folder}/tests/*.cpp)
    file(GLOB wrong CONFIGURE_DEPENDS ${folder}/wrong/*.cu ${folder}/wrong/*.patch)
    list(FILTER ports EXCLUDE REGEX "/standalone[^/]*$")
    foreach(file IN ITEMS main.cpp LISTS arg_WITHOUT)
        list(REMOVE_ITEM loops ${folder}/${file})
        list(REMOVE_ITEM ports ${folder}/${file})
        list(REMOVE_ITEM tests ${folder}/${file})
    endforeach()
    foreach(used IN LISTS arg_USES)
        if(NOT TARGET ${used}_loops)
            message(FATAL_ERROR "${folder} uses ${used}, and no folder added before it is that room")
        endif()
    endforeach()

    if(NOT loops)
        set(loops ${PROJECT_BINARY_DIR}/nothing.cpp)
    endif()
    add_library(${room}_loops STATIC ${loops})
    # Up to eight files are compiled as one, so that their headers are read once: what a room's files
    # keep to themselves (namespace {}) needs names that differ.
    set_target_properties(${room}_loops PROPERTIES UNITY_BUILD ON)
    target_link_libraries(${room}_loops PUBLIC sixdays_tensor ${arg_LIBRARIES}
        PRIVATE sixdays_host_flags)
    target_precompile_headers(${room}_loops REUSE_FROM sixdays_loop_headers)
    list(TRANSFORM arg_USES APPEND _loops OUTPUT_VARIABLE used)
    target_link_libraries(${room}_loops PUBLIC ${used})

    # The ports, by the C++ compiler for the emulator and by nvcc for the GPU. One may call ports of the
    # rooms it uses, on the same device.
    set(has_ports OFF)
    if(ports)
        set(has_ports ON)
        sixdays_emulated_library(${room}_ports_emulated ${ports})
    else()
        set(ports ${PROJECT_BINARY_DIR}/nothing.cpp)
        add_library(${room}_ports_emulated STATIC ${ports})
    endif()
    list(TRANSFORM arg_USES APPEND _ports_emulated OUTPUT_VARIABLE used)
    target_link_libraries(${room}_ports_emulated PUBLIC ${room}_loops ${used})
    if(SIXDAYS_HAVE_CUDA)
        sixdays_tile_ports(ports ${ports})
        sixdays_hopper_ports(${ports})
        sixdays_together(ports ${room}_ports)
        add_library(${room}_ports_cuda STATIC ${ports})
        list(TRANSFORM arg_USES APPEND _ports_cuda OUTPUT_VARIABLE used)
        target_link_libraries(${room}_ports_cuda PUBLIC ${room}_loops ${used} PRIVATE sixdays_flags)
    endif()
    foreach(used IN LISTS arg_USES)
        get_target_property(theirs ${used}_loops SIXDAYS_HAS_PORTS)
        if(theirs)
            set(has_ports ON)
        endif()
    endforeach()
    set_target_properties(${room}_loops PROPERTIES SIXDAYS_HAS_PORTS ${has_ports})

    sixdays_tiers(tiers ${tests})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tests})
    sixdays_want_tiers(${folder} "${arg_TIERS}" "${tiers}")
    if(SIXDAYS_HAVE_CATCH2 AND tests)
        sixdays_test_object(${room}_tests ${tests})
        set_target_properties(${room}_tests PROPERTIES UNITY_BUILD ON)
        sixdays_executable(${room}_tests_emulated sixdays_gpu_emulated $<TARGET_OBJECTS:${room}_tests>
            LIBRARIES sixdays_testing_main sixdays_testing ${room}_ports_emulated)
        if(SIXDAYS_HAVE_CUDA AND has_ports)
            sixdays_executable(${room}_tests_cuda sixdays_gpu_cuda $<TARGET_OBJECTS:${room}_tests>
                LIBRARIES sixdays_testing_main sixdays_testing ${room}_ports_cuda)
        endif()
        sixdays_add_tier_tests(${room} ${label} ${test} "${tiers}" ${has_ports})
        if(has_ports AND "small" IN_LIST tiers)
            sixdays_sanitize_tests(${room}_tests_cuda ${label} ${test})
        endif()
    endif()

    if(SIXDAYS_SANITIZE)
        set(wrong "")  # they prove what the tests reject, and a sanitizer adds nothing to that
    endif()
    foreach(source IN LISTS wrong)
        sixdays_add_wrong(${room} ${label} ${prefix} ${test} ${source})
    endforeach()
endfunction()
