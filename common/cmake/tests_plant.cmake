# plant.awk: a patch goes where it belongs or says why not, and every line keeps its name and number. And stub.awk,
# together.awk.
# cmake -DFOLDER=<scratch folder> -P tests_plant.cmake
cmake_minimum_required(VERSION 3.25)
set(right ${FOLDER}/right.cu)
set(patch ${FOLDER}/wrong.patch)
set(head "Words.\ncase: x\nrejected: 1\n--- a/right.cu\n+++ b/right.cu\n")

# plant(<right file> <hunks> <what is printed, PATCH and RIGHT for the names, or a part of the error>)
function(plant file hunks expected)
    file(WRITE ${right} "${file}")
    file(WRITE ${patch} "${head}${hunks}")
    execute_process(COMMAND awk -v right=right.cu -f ${CMAKE_CURRENT_LIST_DIR}/plant.awk ${patch} ${right}
        RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE said)
    if(status EQUAL 0)
        string(REPLACE "\"${patch}\"" "PATCH" out "${out}")
        string(REPLACE "\"${right}\"" "RIGHT" out "${out}")
        if(NOT out STREQUAL expected)
            message(SEND_ERROR "of\n${file}and\n${hunks}came\n${out}and not\n${expected}")
        endif()
    else()
        string(FIND "${said}" "${expected}" at)
        if(at EQUAL -1)
            message(SEND_ERROR "of\n${file}and\n${hunks}came '${said}' and not '${expected}'")
        endif()
    endif()
endfunction()

set(change "@@ -2,2 +2,2 @@ k()\n b;\n-c;\n+C[0];\n")
set(changed "b;\n#line 9 PATCH\nC[0];\n#line 4 RIGHT\n")
plant("a;\nb;\nc;\nd;\n" "${change}" "#line 1 RIGHT\na;\n${changed}d;\n")
plant("new;\na;\nb;\nc;\n" "${change}"
    "#line 1 RIGHT\nnew;\na;\nb;\n#line 9 PATCH\nC[0];\n#line 5 RIGHT\n")
plant("b;\nc;\nd;\n" "${change}" "#line 1 RIGHT\nb;\n#line 9 PATCH\nC[0];\n#line 3 RIGHT\nd;\n")
plant("a;\nb;\nc;\n" "@@ -2,2 +2,1 @@\n-b;\n c;\n" "#line 1 RIGHT\na;\n#line 3 RIGHT\nc;\n")
plant("a;\nb;\n" "@@ -1,2 +1,4 @@\n+x;\n+y;\n a;\n+z;\n b;\n"
    "#line 1 RIGHT\n#line 7 PATCH\nx;\ny;\n#line 1 RIGHT\na;\n#line 10 PATCH\nz;\n#line 2 RIGHT\nb;\n")
plant("a;\n\nb;\n\na;\n\nc;\n" "@@ -1,3 +1,3 @@\n a;\n\n-b;\n+B;\n@@ -5,3 +5,3 @@\n a;\n\n-c;\n+C;\n"
    "#line 1 RIGHT\na;\n\n#line 10 PATCH\nB;\n#line 4 RIGHT\n\na;\n\n#line 15 PATCH\nC;\n#line 8 RIGHT\n")
plant("b;\nc;\nb;\nc;\n" "@@ -3,2 +3,2 @@\n b;\n-c;\n+C;\n"
    "#line 1 RIGHT\nb;\nc;\nb;\n#line 9 PATCH\nC;\n#line 5 RIGHT\n")  # where it says

set(again "Plant it again")
plant("a;\nb;\nx;\n" "${change}" "wrong.patch:6: error: this hunk fits right.cu at 0 places, and should at one. ${again}")
plant("b;\nc;\nx;\nb;\nc;\n" "${change}" "fits right.cu at 2 places")
plant("a;\nb;\nc ;\n" "${change}" "at 0 places")
plant("a;\n" "" "there is no hunk")
plant("a;\n" "@@ -1 +1 @@\n-a;\n+b;\ndiff x\n" "wrong.patch:9: error: a line of a hunk begins")

# `only:` keeps the instantiations that it names, and every line its number
string(PREPEND head "only: f(float,\n")
set(tail "template void f(float,\n              int);\ntemplate <> void g();\n")
set(other "template void f(bf16,\n              int);\n")
plant("a;\nb;\nc;\n${other}${tail}" "${change}"
    "#line 1 RIGHT\na;\nb;\n#line 10 PATCH\nC[0];\n#line 4 RIGHT\n\n\n${tail}")
plant("a;\nb;\nc;\n${other}" "${change}" "wrong.patch:1: error: right.cu has no explicit instantiation with")

# stub.awk, which makes an exercise's stub of its solution
function(stub solution expected)
    file(WRITE ${right} "${solution}")
    execute_process(COMMAND awk -f ${CMAKE_CURRENT_LIST_DIR}/stub.awk ${right}
        RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE said)
    if(NOT "${status} ${out}${said}" MATCHES "^${expected}$")
        message(SEND_ERROR "of\n${solution}came ${status} ${out}${said}")
    endif()
endfunction()
stub("a\n  // your code: b\n  c\n  // stub: d\n  // end of your code\ne\n"
    "0 a\n  // your code: b\n  d\n  // end of your code\ne\n")
stub("a\n" "1 a\n.*right.cu: error: 0 gaps `// your code`, of which the last is missing\n")
stub("a\n// your code\nb\n" "1 a\n// your code\n.*1 gaps .* is open\n")

# together.awk: names that two files have of their own are apart, and what only one has keeps its name
file(WRITE ${FOLDER}/one.cu "#include <vector>\n#include \"a.hpp\"\n#ifdef X\n#include <x.h>\n#endif\n\nnamespace {\nconstexpr int BM = 8, BN = f(1, 2);\n"
    "enum { kRight = 1, kWrong };\nusing namespace x;\nusing T = int;\ntemplate <class T>\n__global__ void __launch_bounds__(BM)\n"
    "    copy(const T* in,\n         T* out) {\n    int mine = BM;\n    extern __shared__ float tile[];\n}\n}  // namespace\nvoid launch() {}\n")
file(WRITE ${FOLDER}/two.cu "#include \"a.hpp\"\nnamespace {\nconstexpr int BM = 4, mine = 3;\nstruct copy {\n"
    "    int BN;\n};\nenum { kWrong };\nusing namespace x;\nvoid f() {\n    extern __shared__ double tile[];\n}\n}  // namespace\nvoid launch() {}\n")
execute_process(COMMAND awk -f ${CMAKE_CURRENT_LIST_DIR}/together.awk one.cu two.cu
    WORKING_DIRECTORY ${FOLDER} OUTPUT_VARIABLE out)
function(read_as number file)  # under these names
    foreach(name IN LISTS ARGN)
        string(APPEND expected "#define ${name} ${name}_${number}\n")
    endforeach()
    string(APPEND expected "#include \"${file}\"\n")
    foreach(name IN LISTS ARGN)
        string(APPEND expected "#undef ${name}\n")
    endforeach()
    set(expected "${expected}" PARENT_SCOPE)
endfunction()
set(expected "#include <vector>\n#include \"a.hpp\"\n")
read_as(1 one.cu BM kWrong copy tile)
read_as(2 two.cu BM copy kWrong tile)
if(NOT out STREQUAL expected)
    message(SEND_ERROR "of one.cu and two.cu came\n${out}and not\n${expected}")
endif()
