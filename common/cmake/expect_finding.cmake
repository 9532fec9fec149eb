# A wrong kernel, linked in place of the right one, must be refused by one of the day's own tests, for
# the reason that its source announces.
#
#   cmake -DPROGRAM=... -DSOURCE=wrong/x.cu -P expect_finding.cmake
#
#   // case: <name>        the one test that is run
#   // refused: <words>    must stand in what it prints
#   ...   // <- here       and so must this file's name and the number of this line
#
# Blanks and line breaks do not count: Catch breaks long lines where it likes.
include(${CMAKE_CURRENT_LIST_DIR}/wrong_case.cmake)

function(without_blanks text result)
    string(REGEX REPLACE "[ \t\r\n]+" "" text "${text}")
    set(${result} "${text}" PARENT_SCOPE)
endfunction()

file(READ ${SOURCE} source)
string(REGEX REPLACE "[][;\\]" "_" source "${source}")  # what CMake's lists would trip over
string(REPLACE "\n" ";" lines "${source}")
get_filename_component(name ${SOURCE} NAME)
set(expected "")
set(number 0)
foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(line MATCHES "^// refused: (.+)$")
        list(APPEND expected "${CMAKE_MATCH_1}")
    elseif(line MATCHES "// <- here")
        list(APPEND expected "${name}:${number}")
    endif()
endforeach()
if(expected STREQUAL "")
    message(FATAL_ERROR "${SOURCE} does not say how it is refused: it needs a line `// refused: ...`")
endif()

sixdays_wrong_case(${SOURCE} case)
execute_process(COMMAND ${PROGRAM} "${case}" --abortx 20 RESULT_VARIABLE status
    OUTPUT_VARIABLE text ERROR_VARIABLE text)
string(LENGTH "${text}" length)
if(length GREATER 12000)
    string(SUBSTRING "${text}" 0 12000 shown)
    message("${shown}\n... and ${length} characters in all")
else()
    message("${text}")
endif()
if(text MATCHES "No test cases matched")  # Catch2 2.13 and 3 say so, and main.cpp ends with 1
    message(FATAL_ERROR "${name} names a test that is not there (`// case:`): ${case}")
endif()
if(NOT status EQUAL 1)
    message(FATAL_ERROR "the tests ended with '${status}' on ${name}; they should refuse it with 1")
endif()
string(REGEX REPLACE "[][;\\]" "_" text "${text}")
without_blanks("${text}" text)
foreach(words IN LISTS expected)
    without_blanks("${words}" wanted)
    string(FIND "${text}" "${wanted}" at)
    if(at EQUAL -1)
        message(FATAL_ERROR "the tests refuse ${name}, but do not say: ${words}")
    endif()
endforeach()
