# sixdays_wrong_case(<wrong/x.cu> <result>): the test that refuses this kernel, from its line
#
#   // case: <exact name>
#
# as Catch2 takes it on a command line. If two findings need two tests, there are two lines.
function(sixdays_wrong_case source result)
    file(STRINGS ${source} names REGEX "^// case: ")
    if(names STREQUAL "")
        message(FATAL_ERROR "${source} does not say which test refuses it: it needs a line "
            "`// case: <exact name of the test>`")
    endif()
    string(REGEX REPLACE "([[,\"\\])" "\\\\\\1" names "${names}")
    list(TRANSFORM names REPLACE "^// case: " "")
    list(JOIN names "," names)
    set(${result} "${names}" PARENT_SCOPE)
endfunction()
