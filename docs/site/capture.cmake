cmake_policy(VERSION 3.25)
# Runs a program while the docs are built and cuts what it prints, so that pages can show it:
#
#   cmake -DPROGRAM=... "-DARGUMENTS=--no-timing" -DNAME=day01_flat_memory -DFOLDER=... -DROOT=...
#         [-DFIRST_FAILURE=ON] -P capture.cmake
#
# <NAME>.txt          everything, from the first numbered heading on cut into:
# <NAME>.0.txt        what comes before section 1
# <NAME>.<n>.txt      section n, without the checks' blank lines at its end
#
# With FIRST_FAILURE the program is a test that must fail; <NAME>.txt is then what Catch2 says about
# the first failure, and nothing is cut. Source paths lose the folder that this tree lies in.
separate_arguments(ARGUMENTS UNIX_COMMAND "${ARGUMENTS}")
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} TIMEOUT 120
    RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE errors)
string(REPLACE "${ROOT}/" "" text "${text}")
string(REGEX REPLACE "[ \t]+\n" "\n" text "${text}")

function(write name text)
    string(REGEX REPLACE "^\n+" "" text "${text}")
    string(REGEX REPLACE "\n+$" "" text "${text}")
    file(WRITE ${FOLDER}/${name}.txt "${text}\n")
endfunction()

if(FIRST_FAILURE)
    if(status EQUAL 0)
        message(FATAL_ERROR "${PROGRAM} passed, but it holds a planted mistake")
    endif()
    string(FIND "${text}" "with expansion:\n" at)
    if(at EQUAL -1)
        string(FIND "${text}" "due to unexpected exception with message:\n" at)
    endif()
    if(at EQUAL -1)
        message(FATAL_ERROR "${PROGRAM} ended with '${status}' and says nothing of a failure:\n${text}${errors}")
    endif()
    string(SUBSTRING "${text}" ${at} -1 text)
    string(FIND "${text}" "\n" newline)
    math(EXPR newline "${newline} + 1")
    string(SUBSTRING "${text}" ${newline} -1 text)
    string(FIND "${text}" "\n\n" end)
    if(NOT end EQUAL -1)
        string(SUBSTRING "${text}" 0 ${end} text)
    endif()
    string(REGEX REPLACE "\nwith messages?:\n.*$" "" text "${text}")
    write(${NAME} "${text}")
    return()
endif()

if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${ARGUMENTS} ended with '${status}':\n${text}${errors}")
endif()
write(${NAME} "${text}")
set(number 0)
set(rest "${text}")
while(TRUE)
    math(EXPR next "${number} + 1")
    string(FIND "${rest}" "\n${next}. " at)
    if(at EQUAL -1)
        break()
    endif()
    string(SUBSTRING "${rest}" 0 ${at} section)
    write(${NAME}.${number} "${section}")
    string(SUBSTRING "${rest}" ${at} -1 rest)
    set(number ${next})
endwhile()
write(${NAME}.${number} "${rest}")
