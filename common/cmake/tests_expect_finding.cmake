# expect_finding.cmake must believe a kernel's announcement only if a test proves it.
# cmake -DPROGRAM=<testing_tests> -DFOLDER=<scratch folder> -P tests_expect_finding.cmake
function(check expected text)
    file(WRITE ${FOLDER}/planted.cu "${text}")
    execute_process(COMMAND ${CMAKE_COMMAND} -DPROGRAM=${PROGRAM} -DSOURCE=${FOLDER}/planted.cu
            -P ${CMAKE_CURRENT_LIST_DIR}/expect_finding.cmake
        RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    string(REGEX REPLACE "[ \n]+" " " said "${said}")
    string(FIND "${said}" "${expected}" at)
    if(expected STREQUAL "proved" AND NOT status EQUAL 0)
        message(SEND_ERROR "not believed, but proved:\n${text}\n${said}")
    elseif(NOT expected STREQUAL "proved" AND (status EQUAL 0 OR at EQUAL -1))
        message(SEND_ERROR "no word of '${expected}' on:\n${text}\n${said}")
    endif()
endfunction()

set(fails "// case: four checks fail, and 4 would mean skipped\n")
set(other "// case: a failure is not hidden by checks that pass\n")
set(passes "// case: equal accepts the same bits in any layout\n")
check(proved "${fails}// refused: CHECK( i == -1 )\n")
check(proved "${fails}${other}// refused: CHECK( i == -1 )\n// refused: CHECK( 1 == 2 )\n")
check("but do not say: CHECK( 1 == 2 )" "${fails}// refused: CHECK( 1 == 2 )\n")
check("but do not say: planted.cu:3" "${fails}// refused: CHECK( i == -1 )\nx;  // <- here\n")
check("does not say how it is refused" "${fails}")
check("does not say which test refuses it" "// refused: CHECK( i == -1 )\n")
check("names a test that is not there" "// case: four checks\n// refused: four checks\n")
check("names a test that is not there" "${fails}// case: no such\n// refused: CHECK( i == -1 )\n")
check("the tests ended with '0'" "${passes}// refused: passed\n")
