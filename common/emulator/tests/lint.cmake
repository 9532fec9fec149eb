# What translate.cmake cannot rewrite it must refuse, and nothing else. Run with -DFOLDER=<scratch folder>.
function(check expected text)
    file(WRITE ${FOLDER}/lint.cu "${text}")
    execute_process(
        COMMAND ${CMAKE_COMMAND} -DINPUT=${FOLDER}/lint.cu -DOUTPUT=${FOLDER}/lint.cpp
                -P ${CMAKE_CURRENT_LIST_DIR}/../translate.cmake
        RESULT_VARIABLE status ERROR_VARIABLE said)
    if(expected STREQUAL "fine" AND NOT status EQUAL 0)
        message(SEND_ERROR "refused, but right:\n${text}\n${said}")
    elseif(NOT expected STREQUAL "fine" AND NOT said MATCHES "lint.cu:${expected}:")
        message(SEND_ERROR "line ${expected} was not refused:\n${text}\n${said}")
    endif()
endfunction()

check(fine "void f() {\n    k<<<1, 2>>>();\n    ns::k<T, 3><<<dim3(1, 2),\n        4, 0, s>>>(a[0], \"x\");\n}\n")
check(fine "// a comment on <<< and __shared__\n__global__ void k() {\n    __shared__ T tile[3][4];\n}\n")
check(fine "extern __shared__ __align__(16) unsigned char raw[];\n__shared__ Pair<int, float> p;\n")
check(2 "void f() {\n    k<<<1, [] { return 2; }()>>>();\n}\n")
check(3 "void f() {\n\n    (*pointer)<<<1, 2>>>();\n}\n")
check(1 "__shared__ int a, b;\n")
