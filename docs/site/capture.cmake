cmake_policy(VERSION 3.25)
# Runs a program while the docs are built and cuts what it prints, so that pages can show it:
#
#   cmake -DPROGRAM=... "-DARGUMENTS=--no-timing" -DNAME=day01_flat_memory -DFOLDER=... -DROOT=...
#         [-DWRONG=day01_flat_memory/wrong/x.cu] -P capture.cmake
#
# <NAME>.txt          everything, from the first numbered heading on cut into:
# <NAME>.0.txt        what comes before section 1
# <NAME>.<n>.txt      section n; of a trace, its n-th part
#
# With WRONG the program is a test that must refuse this kernel; <NAME>.txt is then what it says about
# the first failure that the kernel announces (its last line `// refused: ...`). Source paths lose
# the folder that this tree lies in.
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

# The words of the first failed check or unexpected exception that holds `words`, from Catch2's XML.
function(first_failure words result)
    set(rest "${text}")
    set(found "")
    set(asked "")
    while(rest MATCHES "<(Original|Expanded|Exception)[^>]*>")
        set(tag ${CMAKE_MATCH_1})
        string(FIND "${rest}" "${CMAKE_MATCH_0}" at)
        string(LENGTH "${CMAKE_MATCH_0}" length)
        math(EXPR at "${at} + ${length}")
        string(SUBSTRING "${rest}" ${at} -1 rest)
        string(FIND "${rest}" "</${tag}>" end)
        string(SUBSTRING "${rest}" 0 ${end} said)
        string(REGEX REPLACE "\n *" "\n" said "${said}")
        foreach(pair "&lt|<" "&gt|>" "&quot|\"" "&apos|'" "&amp|&")
            string(REPLACE "|" ";" pair "${pair}")
            list(GET pair 0 escaped)
            list(GET pair 1 plain)
            string(REPLACE "${escaped};" "${plain}" said "${said}")
        endforeach()
        string(STRIP "${said}" said)
        string(FIND "${said}" "${words}" at)
        if(tag STREQUAL "Original")
            set(asked "${said}")  # what the check says, in C++; followed by its values
        elseif(NOT at EQUAL -1)
            set(found "${said}")
            break()
        elseif(asked STREQUAL words)
            set(found "CHECK( ${asked} )\nhere: ${said}")
            break()
        endif()
    endwhile()
    set(${result} "${found}" PARENT_SCOPE)
endfunction()

if(WRONG)
    file(STRINGS ${WRONG} words REGEX "^// refused: ")
    list(GET words -1 words)
    string(REPLACE "// refused: " "" words "${words}")
    first_failure("${words}" said)
    if(said STREQUAL "")
        first_failure(" " said)  # CTest sees to it that the words are right
    endif()
    if(status EQUAL 0 OR said STREQUAL "")
        message(FATAL_ERROR "${PROGRAM} ended with '${status}' and refused nothing:\n${errors}")
    endif()
    write(${NAME} "${said}")
    return()
endif()

if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${ARGUMENTS} ended with '${status}':\n${text}${errors}")
endif()
write(${NAME} "${text}")
# A trace has no numbers. Its parts begin with a line of their own, above a table.
string(REGEX REPLACE "(^|\n)([^ \n][^\n]*\n\n  requests )" "\\1@@@\n\\2" parts "${text}")
if(NOT parts STREQUAL text)
    set(number 0)
    while(TRUE)
        string(FIND "${parts}" "@@@\n" at)
        if(at EQUAL -1)
            break()
        endif()
        string(SUBSTRING "${parts}" 0 ${at} part)
        write(${NAME}.${number} "${part}")
        math(EXPR at "${at} + 4")
        string(SUBSTRING "${parts}" ${at} -1 parts)
        math(EXPR number "${number} + 1")
    endwhile()
    write(${NAME}.${number} "${parts}")
    return()
endif()

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
