# add_day(...), called in a day's folder: the room (add_room.cmake has its files, names and arguments) and
# what makes it a lesson:
#
#   main.cpp  run/*.cpp   the lesson as a run, and its fixtures   -> <day>_emulated, <day>
#   bench/*.cpp           what only --bench measures; linked with main.cpp
#   standalone*.cu        the day on one page of raw CUDA, run on the emulator, and on a GPU by nvcc
#   exercises/<name>/     <name>.hpp, *.cpp, solution.cu, tests.cpp, hints.md; the stub is made of the
#                         solution (stub.awk). <name>_tile is in tiles: by nvcc from 13.3 on
#   exercises/<name>.cu   the same in one file of raw CUDA: statement, solution, `// wrong:` lines, hints; the
#                         cases of all of them are in exercises/cases.cpp, and begin with `<name>: `
#
# Exercises that link more say so before add_day(), in a variable: those of one file
# set(day01_exercises_LIBRARIES <library>...), one in a folder that calls operations of a room set(one_block_USES day06_block).
#
# main.cpp and tests/ are compiled once and linked to either ports library, never to both.
# A learner's own port, my/<day>/<name>.cu, is built in place of an exercise's stub, and no stub with it.

include(${CMAKE_CURRENT_LIST_DIR}/add_room.cmake)

# An unfinished port does not use what it is given yet.
set(SIXDAYS_UNFINISHED -Wno-unused-parameter -Wno-unused-variable -Wno-unused-function)

add_custom_target(lessons)  # the executables of all days, without the tests

# An exercise: the same cases run against the stub (must be rejected), against the solution (must
# pass), against the lines `// wrong: ` if there is a `// told: ` (must be rejected in its words), `// wrong 2: `
# if there is a `// told 2: ` and so on, and, by `learn check`, against the learner's own file.
function(sixdays_add_exercise day label name)
    set(SIXDAYS_LOCALS --locals=own)
    set(folder ${PROJECT_SOURCE_DIR}/${day}/exercises/${name})
    set(prefix ${label}_${name})
    file(GLOB loops CONFIGURE_DEPENDS ${folder}/*.cpp)
    list(REMOVE_ITEM loops ${folder}/tests.cpp)
    sixdays_test_object(${prefix}_cases ${folder}/tests.cpp ${loops})
    set_source_files_properties(${loops} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    list(TRANSFORM ${name}_USES APPEND _ports_emulated OUTPUT_VARIABLE used)
    if(used)
        add_dependencies(${prefix}_cases ${used})  # `learn check` builds what is ours before the learner's file
    endif()

    set(stub ${CMAKE_CURRENT_BINARY_DIR}/${prefix}_stub/stub.cu)
    set(solution ${folder}/solution.cu)
    set(script ${PROJECT_SOURCE_DIR}/common/cmake/stub.awk)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${prefix}_stub)
    add_custom_command(OUTPUT ${stub} COMMAND awk -f ${script} ${solution} > ${stub}
        DEPENDS ${solution} ${script} VERBATIM)
    sixdays_emulated_objects(${prefix}_stub_port ${stub})
    sixdays_emulated_library(${prefix}_solution_port ${solution})  # gpt2/mine links some of them
    foreach(who stub solution)
        sixdays_executable(${prefix}_${who} sixdays_gpu_emulated $<TARGET_OBJECTS:${prefix}_cases>
            LIBRARIES sixdays_testing_main sixdays_testing ${prefix}_${who}_port ${used})
    endforeach()
    target_compile_options(${prefix}_stub_port PRIVATE ${SIXDAYS_UNFINISHED})
    add_test(NAME ${label}.exercise.${name}.solution COMMAND ${prefix}_solution)
    add_test(NAME ${label}.exercise.${name}.stub COMMAND ${CMAKE_COMMAND}
        -DPROGRAM=$<TARGET_FILE:${prefix}_stub>
        -P ${PROJECT_SOURCE_DIR}/common/cmake/expect_rejection.cmake)
    set_tests_properties(${label}.exercise.${name}.solution ${label}.exercise.${name}.stub
        PROPERTIES LABELS "${label};exercise;small")

    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${solution})  # `// told:` is read here
    file(STRINGS ${solution} told REGEX "^ *// told( [2-9])?: ")
    foreach(line IN LISTS told)
        string(REGEX MATCH "// told( ([2-9]))?: (.*)" line "${line}")
        set(words "${CMAKE_MATCH_3}")
        set(number 1)
        set(attempt wrong)
        if(CMAKE_MATCH_2)
            set(number ${CMAKE_MATCH_2})
            set(attempt wrong_${number})
        endif()
        set(wrong ${CMAKE_CURRENT_BINARY_DIR}/${prefix}_stub/${attempt}.cu)
        add_custom_command(OUTPUT ${wrong} COMMAND awk -v wrong=${number} -f ${script} ${solution} > ${wrong}
            DEPENDS ${solution} ${script} VERBATIM)
        sixdays_emulated_objects(${prefix}_${attempt}_port ${wrong})
        target_compile_options(${prefix}_${attempt}_port PRIVATE ${SIXDAYS_UNFINISHED} -Wno-maybe-uninitialized)
        sixdays_executable(${prefix}_${attempt} sixdays_gpu_emulated $<TARGET_OBJECTS:${prefix}_cases>
            LIBRARIES sixdays_testing_main sixdays_testing ${prefix}_${attempt}_port ${used})
        sixdays_expect_status(${label}.exercise.${name}.${attempt} "${label};exercise" 1 "${words}"
            $<TARGET_FILE:${prefix}_${attempt}> -r xml)
    endforeach()

    set(by_nvcc ${SIXDAYS_HAVE_CUDA})
    if(name MATCHES "_tile$")
        set(by_nvcc ${SIXDAYS_HAVE_TILE})
        set_source_files_properties(${stub} ${solution} PROPERTIES COMPILE_OPTIONS --enable-tile)
    endif()
    if(by_nvcc)
        # nvcc takes all stubs and solutions of a day (see add_day), and the solutions run on a GPU.
        set_property(DIRECTORY APPEND PROPERTY SIXDAYS_STUBS ${stub})
        set_property(DIRECTORY APPEND PROPERTY SIXDAYS_SOLUTIONS ${solution})
        list(TRANSFORM ${name}_USES APPEND _ports_cuda OUTPUT_VARIABLE used_cuda)
        sixdays_executable(${prefix}_solution_cuda sixdays_gpu_cuda
            $<TARGET_OBJECTS:${prefix}_cases>
            LIBRARIES sixdays_testing_main sixdays_testing ${label}_solutions_cuda ${used_cuda})
        add_test(NAME ${label}.exercise.${name}.solution.cuda COMMAND ${prefix}_solution_cuda)
        set_tests_properties(${label}.exercise.${name}.solution.cuda PROPERTIES
            LABELS "${label};exercise;gpu;small" SKIP_RETURN_CODE 4 RESOURCE_LOCK gpu)
    endif()

    # The learner's file may be broken at any time, so nothing but `learn check` builds it; and a warning is
    # no reason to reject it, however this tree was configured.
    set(mine ${PROJECT_SOURCE_DIR}/my/${day}/${name}.cu)
    if(EXISTS ${mine} AND NOT IS_DIRECTORY ${mine})
        sixdays_emulated_library(my_${prefix}_port ${mine})
        sixdays_executable(my_${prefix} sixdays_gpu_emulated $<TARGET_OBJECTS:${prefix}_cases>
            LIBRARIES sixdays_testing_main sixdays_testing my_${prefix}_port ${used} sixdays_emulator_libraries)
        set_target_properties(my_${prefix}_port my_${prefix} PROPERTIES EXCLUDE_FROM_ALL ON
            COMPILE_WARNING_AS_ERROR OFF)
        target_compile_options(my_${prefix}_port PRIVATE ${SIXDAYS_UNFINISHED})
    endif()
endfunction()

# The exercises of one file: three programs a day, with all solutions, all stubs and all wrong attempts. A
# library of each kind is one piece for the compiler. Where an exercise has further attempts, `// wrong 2:`
# with its `// told 2: `, there is a program for each number; it has the stubs of exercises without one.
function(sixdays_add_small_exercises day label)
    set(SIXDAYS_LOCALS --locals=own)
    set(folder ${PROJECT_SOURCE_DIR}/${day}/exercises)
    file(GLOB solutions CONFIGURE_DEPENDS ${folder}/*.cu)
    if(NOT solutions)
        return()
    endif()
    set(all ${label}_exercises)
    set(script ${PROJECT_SOURCE_DIR}/common/cmake/stub.awk)
    sixdays_test_object(${all}_cases ${folder}/cases.cpp)
    set(besides ${${all}_LIBRARIES})
    if(besides)
        add_dependencies(${all}_cases ${besides})  # `learn check` builds what is ours before the learner's file
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${solutions})  # `// told:` is read here
    set(solution ${solutions})
    set(attempts wrong)
    foreach(number RANGE 2 9)
        foreach(file IN LISTS solutions)
            file(STRINGS ${file} told REGEX "^// told ${number}: ")
            if(told)
                list(APPEND attempts wrong_${number})
                break()
            endif()
        endforeach()
    endforeach()
    foreach(who stub ${attempts})
        set(${who} "")
        set(made ${CMAKE_CURRENT_BINARY_DIR}/${all}_${who}.d)
        file(MAKE_DIRECTORY ${made})
        foreach(file IN LISTS solutions)
            cmake_path(GET file FILENAME name)
            set(wrong_lines 0)
            if(who STREQUAL "wrong")
                set(wrong_lines 1)
            elseif(who MATCHES "^wrong_(.)")
                set(number ${CMAKE_MATCH_1})
                file(STRINGS ${file} told REGEX "^// told ${number}: ")
                if(told)
                    set(wrong_lines ${number})
                endif()
            endif()
            add_custom_command(OUTPUT ${made}/${name}
                COMMAND awk -v wrong=${wrong_lines} -f ${script} ${file} > ${made}/${name}
                DEPENDS ${file} ${script} VERBATIM)
            list(APPEND ${who} ${made}/${name})
        endforeach()
    endforeach()
    foreach(who solution stub ${attempts})
        sixdays_emulated_library(${all}_${who}_port ${${who}})
        set_target_properties(${all}_${who}_port PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
        target_compile_options(${all}_${who}_port PRIVATE ${SIXDAYS_UNFINISHED})
        if(who MATCHES "^wrong")
            target_compile_options(${all}_${who}_port PRIVATE -Wno-maybe-uninitialized)
        endif()
        sixdays_executable(${all}_${who} sixdays_gpu_emulated $<TARGET_OBJECTS:${all}_cases>
            LIBRARIES sixdays_testing_main sixdays_testing ${all}_${who}_port ${besides})
    endforeach()
    add_test(NAME ${label}.exercises.solution COMMAND ${all}_solution)
    set_tests_properties(${label}.exercises.solution PROPERTIES LABELS "${label};exercise;small")
    foreach(file IN LISTS solutions)
        cmake_path(GET file STEM name)
        file(STRINGS ${file} told REGEX "^// told: ")
        if(NOT told)
            message(FATAL_ERROR "${file} lacks a line `// told: ` with the words that reject its `// wrong:` lines")
        endif()
        string(REPLACE "// told: " "" told "${told}")
        add_test(NAME ${label}.exercise.${name}.stub COMMAND ${CMAKE_COMMAND}
            "-DPROGRAM=$<TARGET_FILE:${all}_stub>;${name}:*"
            -P ${PROJECT_SOURCE_DIR}/common/cmake/expect_rejection.cmake)
        set_tests_properties(${label}.exercise.${name}.stub PROPERTIES
            LABELS "${label};exercise;small")
        sixdays_expect_status(${label}.exercise.${name}.wrong "${label};exercise" 1 "${told}"
            $<TARGET_FILE:${all}_wrong> "${name}:*" -r xml)
        file(STRINGS ${file} told REGEX "^// told [2-9]: ")
        foreach(line IN LISTS told)
            string(REGEX MATCH "^// told ([2-9]): (.*)" line "${line}")
            sixdays_expect_status(${label}.exercise.${name}.wrong_${CMAKE_MATCH_1} "${label};exercise" 1
                "${CMAKE_MATCH_2}" $<TARGET_FILE:${all}_wrong_${CMAKE_MATCH_1}> "${name}:*" -r xml)
        endforeach()
        # In the learner's program the other exercises are empty: its cases are not run.
        set(mine ${PROJECT_SOURCE_DIR}/my/${day}/${name}.cu)
        if(EXISTS ${mine} AND NOT IS_DIRECTORY ${mine})
            set(others ${CMAKE_CURRENT_BINARY_DIR}/my_${label}_${name}_others.cpp)
            set(others_script ${PROJECT_SOURCE_DIR}/common/cmake/others.awk)
            add_custom_command(OUTPUT ${others}
                COMMAND awk -v but=${name} -f ${others_script} ${folder}/cases.cpp > ${others}
                DEPENDS ${folder}/cases.cpp ${others_script} VERBATIM)
            set_source_files_properties(${others} PROPERTIES COMPILE_OPTIONS -w)
            sixdays_emulated_library(my_${label}_${name}_port ${mine})
            sixdays_executable(my_${label}_${name} sixdays_gpu_emulated ${others}
                $<TARGET_OBJECTS:${all}_cases> $<TARGET_OBJECTS:my_${label}_${name}_port>
                LIBRARIES sixdays_testing_main sixdays_testing ${besides} sixdays_emulator_libraries)
            set_target_properties(my_${label}_${name}_port my_${label}_${name}
                PROPERTIES EXCLUDE_FROM_ALL ON COMPILE_WARNING_AS_ERROR OFF)
            target_compile_options(my_${label}_${name}_port PRIVATE ${SIXDAYS_UNFINISHED})
        endif()
    endforeach()
    if(SIXDAYS_HAVE_CUDA)
        set(together "")
        foreach(file IN LISTS solutions)
            string(APPEND together "#include \"${file}\"\n")
        endforeach()
        file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${all}.cu CONTENT "${together}" @ONLY)
        sixdays_executable(${all}_solution_cuda sixdays_gpu_cuda $<TARGET_OBJECTS:${all}_cases>
            ${CMAKE_CURRENT_BINARY_DIR}/${all}.cu LIBRARIES sixdays_testing_main sixdays_testing ${besides})
        add_test(NAME ${label}.exercises.solution.cuda COMMAND ${all}_solution_cuda)
        set_tests_properties(${label}.exercises.solution.cuda PROPERTIES
            LABELS "${label};exercise;gpu;small" SKIP_RETURN_CODE 4 RESOURCE_LOCK gpu)
    endif()
endfunction()

# The day on one page, a program without any helper of ours: it checks itself, and the emulator has nothing
# to find in it.
function(sixdays_add_standalone label file)
    cmake_path(GET file STEM name)
    sixdays_tried_program(${label}_${name}_emulated ${file})
    set_target_properties(${label}_${name}_emulated PROPERTIES EXCLUDE_FROM_ALL OFF)
    sixdays_expect_status(${label}.${name}.emulated ${label} 0 " right"
        $<TARGET_FILE:${label}_${name}_emulated>)
    if(SIXDAYS_HAVE_CUDA)
        add_executable(${label}_${name} ${file})
        target_link_libraries(${label}_${name} PRIVATE sixdays_flags)
        add_test(NAME ${label}.${name}.cuda COMMAND ${label}_${name})
        set_tests_properties(${label}.${name}.cuda PROPERTIES LABELS "${label};gpu;small"
            PASS_REGULAR_EXPRESSION " right" FAIL_REGULAR_EXPRESSION ", not "
            SKIP_REGULAR_EXPRESSION "no CUDA-capable device|driver version is insufficient")
    endif()
endfunction()

function(add_day)
    add_room(${ARGV})
    set(folder ${CMAKE_CURRENT_SOURCE_DIR})
    sixdays_room_names(${folder})
    set(day ${room})
    set(native sixdays_gpu_emulated)
    set(native_ports ${day}_ports_emulated)
    if(SIXDAYS_HAVE_CUDA)
        set(native sixdays_gpu_cuda)
        set(native_ports ${day}_ports_cuda)
    endif()

    # The lesson as a run.
    file(GLOB parts CONFIGURE_DEPENDS ${folder}/run/*.cpp ${folder}/bench/*.cpp)
    sixdays_object(${day}_main ${folder}/main.cpp ${parts})
    target_compile_options(${day}_main PRIVATE -O1)  # what is timed is in the libraries
    target_precompile_headers(${day}_main REUSE_FROM sixdays_lesson_headers)
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
        sh -c "exec \"$0\" --no-timing >/dev/full" ${program})
    sixdays_expect_status(${label}.run.trace ${label} 0 "requests" ${program} --trace)
    if(SIXDAYS_SANITIZE)
        return()  # what is left is kernels, and a sanitizer sees host code alone
    endif()
    file(GLOB pages CONFIGURE_DEPENDS ${folder}/standalone*.cu)
    foreach(page IN LISTS pages)
        sixdays_add_standalone(${label} ${page})
    endforeach()

    if(NOT SIXDAYS_HAVE_CATCH2)
        return()
    endif()
    file(GLOB solutions CONFIGURE_DEPENDS ${folder}/exercises/*/solution.cu)
    foreach(solution IN LISTS solutions)
        cmake_path(GET solution PARENT_PATH exercise)
        cmake_path(GET exercise FILENAME exercise)
        sixdays_add_exercise(${day} ${label} ${exercise})
    endforeach()
    foreach(who stubs solutions)
        string(TOUPPER ${who} property)
        get_property(files DIRECTORY PROPERTY SIXDAYS_${property})
        if(files)
            # (A solution's program has its own exercise's checks alone, so a joined file would lack the others'.)
            if(who STREQUAL "stubs")
                sixdays_together(files ${label}_${who})
            endif()
            add_library(${label}_${who}_cuda STATIC ${files})
            target_link_libraries(${label}_${who}_cuda PRIVATE sixdays_flags)
        endif()
    endforeach()
    if(TARGET ${label}_stubs_cuda)
        list(TRANSFORM SIXDAYS_UNFINISHED PREPEND -Xcompiler= OUTPUT_VARIABLE unfinished)
        target_compile_options(${label}_stubs_cuda PRIVATE ${unfinished})
    endif()
    sixdays_add_small_exercises(${day} ${label})
endfunction()
