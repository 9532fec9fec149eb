# What a wrong kernel says of itself. wrong/<mistake>.patch begins with it, and then comes a unified diff
# of one right file (plant.awk); a kernel that is another one altogether, wrong/<mistake>.cu, says the same
# in comments, `// case: ...`:
#
#   case: <exact name of the test that rejects it>       two lines if two findings need two tests
#   rejected: <words that the test prints>                as many as needed; one of all has a number, or
#   rejected: at <a line of the kernel>                   what is printed names this line, as file:line
#   sanitizer: racecheck                                 which tool of compute-sanitizer sees it, if one does
#   only: View<const bf16>                               where a file compiles for seconds: of its explicit
#                                                        instantiations, the ones with this text are planted
#
# In a .cu file a line may instead end in `// <- here`.

# sixdays_wrong_case(<source> <result>): the test that rejects it, as Catch2 takes it on a command line.
function(sixdays_wrong_case source result)
    file(STRINGS ${source} names REGEX "^(// )?case: ")
    if(names STREQUAL "")
        message(FATAL_ERROR "${source} does not say which test rejects it: it needs a line "
            "`case: <exact name of the test>`")
    endif()
    string(REGEX REPLACE "([[,\"\\])" "\\\\\\1" names "${names}")
    list(TRANSFORM names REPLACE "^(// )?case: " "")
    list(JOIN names "," names)
    set(${result} "${names}" PARENT_SCOPE)
endfunction()

# sixdays_planted(<wrong/x.patch or .cu> <name> <result>): the file that is compiled. A patch is applied
# when it is built, and again when it or the right file has changed; it must fit.
function(sixdays_planted source name result)
    if(source MATCHES "\\.cu$")
        set(${result} ${source} PARENT_SCOPE)
        return()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} right REGEX "^\\+\\+\\+ b/" LIMIT_COUNT 1)
    string(REGEX REPLACE "^\\+\\+\\+ b/([^\t]*).*" "\\1" right "${right}")
    if(right STREQUAL "" OR NOT EXISTS ${PROJECT_SOURCE_DIR}/${right})
        message(FATAL_ERROR "${source} changes '${right}' (its line `+++ b/...`), and there is no such "
            "file. Plant it again where the kernel is now (CONTRIBUTING.md).")
    endif()
    cmake_path(GET right FILENAME base)
    set(planted ${CMAKE_CURRENT_BINARY_DIR}/${name}/${base})
    set(script ${PROJECT_SOURCE_DIR}/common/cmake/plant.awk)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name})
    add_custom_command(OUTPUT ${planted}
        COMMAND awk -v right=${right} -f ${script} ${source} ${PROJECT_SOURCE_DIR}/${right} > ${planted}
        DEPENDS ${source} ${PROJECT_SOURCE_DIR}/${right} ${script}
        COMMENT "Planting ${name}" VERBATIM)
    set(${result} ${planted} PARENT_SCOPE)
endfunction()
