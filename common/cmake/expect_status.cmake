# Runs PROGRAM (a list) and fails unless it ends with STATUS and, where WORDS are given, says them.
# cmake -DPROGRAM=... -DSTATUS=... [-DWORDS=...] -P expect_status.cmake
execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT "${status}" STREQUAL "${STATUS}")
    message(FATAL_ERROR "ended with '${status}', not ${STATUS}:\n${text}")
endif()
string(FIND "${text}" "${WORDS}" found)
if(found EQUAL -1)
    message(FATAL_ERROR "did not say '${WORDS}':\n${text}")
endif()
