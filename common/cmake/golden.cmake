# sixdays_add_golden(<name> <script> <inc>): <name>.golden proves that <inc> in git is what <script>
# makes with NumPy today. Skipped without NumPy: only whoever changes a golden file needs Python.

# apt's NumPy belongs to /usr/bin/python3, whatever python3 stands first on PATH.
find_program(SIXDAYS_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(SIXDAYS_PYTHON python3)
mark_as_advanced(SIXDAYS_PYTHON)
set(SIXDAYS_HAVE_NUMPY OFF)
if(SIXDAYS_PYTHON)
    execute_process(COMMAND ${SIXDAYS_PYTHON} -c "import numpy"
        RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
        set(SIXDAYS_HAVE_NUMPY ON)
    endif()
endif()

function(sixdays_add_golden name script inc)
    if(SIXDAYS_HAVE_NUMPY)
        add_test(NAME ${name}.golden COMMAND ${SIXDAYS_PYTHON} -B ${script} --check ${inc}
            WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    else()
        sixdays_add_skipped_test(${name}.golden "python3 has no NumPy (apt install python3-numpy)")
    endif()
    set_tests_properties(${name}.golden PROPERTIES LABELS "golden;small")
endfunction()

# sixdays_add_reference(<test> <script> <module>...): what a script beside the tests wrote is what it would
# write today, with these modules of PyPI. Skipped without them.
find_program(SIXDAYS_GGUF_PYTHON python3 DOC "a python3 that has PyPI's gguf, tokenizers and transformers")
mark_as_advanced(SIXDAYS_GGUF_PYTHON)
function(sixdays_add_reference test script)
    list(JOIN ARGN " " modules)
    list(JOIN ARGN "," imports)
    set(status 1)
    if(SIXDAYS_GGUF_PYTHON)
        execute_process(COMMAND ${SIXDAYS_GGUF_PYTHON} -c "import ${imports}"
            RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    endif()
    if(status EQUAL 0)
        add_test(NAME ${test} COMMAND ${SIXDAYS_GGUF_PYTHON} -B
            ${CMAKE_CURRENT_SOURCE_DIR}/${script} --check)
    else()
        sixdays_add_skipped_test(${test} "python3 cannot import ${modules} (pip install ${modules})")
    endif()
    set_tests_properties(${test} PROPERTIES LABELS "day06;golden;small")
endfunction()
