# An exercise's stub must be rejected by its cases: not accepted, not crashed, not skipped.
# cmake -DPROGRAM=... -P expect_rejection.cmake
execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
message("${text}")
if(NOT status EQUAL 1)
    message(FATAL_ERROR "the unfinished stub ended with '${status}'; its cases should reject it with 1")
endif()
