# A tier is registered if a case has its tag, and asking for another one ends the configuring.
# cmake -DFOLDER=<scratch folder> -P tests_tiers.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/tiers.cmake)

if(WANTED)  # called by the lines at the end
    sixdays_want_tiers(day05_matmul ${WANTED} "small;full")
    return()
endif()

function(expect wanted)
    sixdays_tiers(found ${ARGN})
    if(NOT found STREQUAL wanted)
        message(SEND_ERROR "of ${ARGN} the tiers are '${found}', not '${wanted}'")
    endif()
endfunction()

file(WRITE ${FOLDER}/tiers_a.cpp "// [huge] on a GPU only\nTEST_CASE(\"one\", \"[x][small]\") {}\n")
file(WRITE ${FOLDER}/tiers_b.cpp "TEST_CASE(\"two\",\n          \"[x][full]\") {}\n")
file(WRITE ${FOLDER}/tiers_c.cpp "TEST_CASE(\"three\", \"[huge][x]\") {}\n")
expect("" )
expect("small" ${FOLDER}/tiers_a.cpp)
expect("small;full" ${FOLDER}/tiers_b.cpp ${FOLDER}/tiers_a.cpp)
expect("small;full;huge" ${FOLDER}/tiers_a.cpp ${FOLDER}/tiers_b.cpp ${FOLDER}/tiers_c.cpp)

foreach(wanted IN ITEMS full huge)
    execute_process(COMMAND ${CMAKE_COMMAND} -DWANTED=${wanted} -P ${CMAKE_CURRENT_LIST_FILE}
        RESULT_VARIABLE status ERROR_VARIABLE said)
    string(REGEX REPLACE "[ \n]+" " " said "${said}")
    if(wanted STREQUAL full AND NOT status EQUAL 0)
        message(SEND_ERROR "[full] has cases, and yet: ${said}")
    elseif(wanted STREQUAL huge AND NOT said MATCHES "asks for the tier huge .* no case .* \\[huge\\]")
        message(SEND_ERROR "[huge] has no case, and: ${status} ${said}")
    endif()
endforeach()
