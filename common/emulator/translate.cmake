# cmake -DINPUT=a.cu -DOUTPUT=a.cu.cpp -P translate.cmake
#
# Rewrites the two things that CUDA says and C++ cannot, and nothing else; lines keep their numbers.
#   kernel<<<grid, block>>>(args)     -> configure("kernel", ..., grid, block)(args)
#   extern __shared__ float tile[];   -> float* tile = dynamic_shared<float>();
# Also tells the runtime about __device__ and __constant__ variables, which it must not take for host
# memory. What it cannot rewrite it refuses, by line.
file(READ "${INPUT}" text)

# CMake reads meaning into [ ] ; and \, so they are other characters meanwhile.
string(ASCII 1 open)
string(ASCII 2 close)
string(ASCII 3 semicolon)
string(ASCII 4 backslash)
string(REPLACE "[" "${open}" text "${text}")
string(REPLACE "]" "${close}" text "${text}")
string(REPLACE ";" "${semicolon}" text "${text}")
string(REPLACE "\\" "${backslash}" text "${text}")

set(id "[A-Za-z_][A-Za-z0-9_]*")
set(name "((::)?(${id}::)*${id}(<([^<>${semicolon}]|<[^<>]*>)*>)?)")
set(emulator "::sixdays::emulator")

# The address tells kernels apart where cudaFuncSetAttribute gave one more shared memory. A template
# whose arguments are deduced has none that can be named here: then it is null.
string(CONCAT address
    "${open}${close}(auto emu_f) -> const void* { "
    "if constexpr (requires { emu_f(&\\1)${semicolon} }) return emu_f(&\\1)${semicolon} "
    "else return nullptr${semicolon} }")
set(call "${open}&${close}(auto... emu_a) { \\1(emu_a...)${semicolon} }")
string(REGEX REPLACE "${name}[ \t]*<<<([^${semicolon}]*)>>>[ \t]*[(]"
    "${emulator}::configure(\"\\1\", ${address}, ${call}, \\6)(" text "${text}")

set(align "((__align__|alignas)[(][^()]*[)][ \t]*)?")
string(REGEX REPLACE
    "extern[ \t]+__shared__[ \t]+${align}([A-Za-z_][A-Za-z0-9_:<>, \t]*[A-Za-z0-9_>])[ \t]+${align}(${id})[ \t]*${open}[ \t]*${close}[ \t]*${semicolon}"
    "\\3* \\6 = ${emulator}::dynamic_shared<\\3>()${semicolon}" text "${text}")

# A variable, not a function: no parenthesis before its first `=`, `{` or `;`.
set(not_function "[^${semicolon}={()]")
string(REGEX REPLACE
    "(__(device|constant)__[ \t]${not_function}*[ \t*&](${id})[ \t]*(${open}${not_function}*${close})*[ \t]*([={][^${semicolon}]*)?${semicolon})"
    "\\1 static const bool sixdays_registered_\\3 = ${emulator}::register_variable(\\3)${semicolon}"
    text "${text}")

string(REPLACE "${backslash}" "\\" text "${text}")
string(REPLACE "${open}" "[" text "${text}")
string(REPLACE "${close}" "]" text "${text}")
string(REPLACE "${semicolon}" ";" text "${text}")
file(WRITE "${OUTPUT}" "#line 1 \"${INPUT}\"\n${text}")

# The lint: what still looks like CUDA was spelled in a way that the patterns do not know.
file(STRINGS "${OUTPUT}" left REGEX "<<<|extern[ \t]+__shared__")
if(left)
    file(STRINGS "${INPUT}" lines)
    set(where "")
    file(READ "${OUTPUT}" rest)
    string(REGEX MATCH "^(.*)(<<<|extern[ \t]+__shared__)" before "${rest}")
    string(REGEX REPLACE "[^\n]" "" before "${before}")
    string(LENGTH "${before}" line)
    list(GET left -1 source)
    message(FATAL_ERROR "${INPUT}:${line}: the emulator cannot read this line:\n  ${source}\n"
        "Write a launch as  kernel<<<grid, block>>>(args)  with the kernel's name (ns::name and "
        "template arguments are fine) right before <<<, no ';' or lambda between <<< and >>>, and no "
        "<<< in a string or comment. Write dynamic shared memory as  extern __shared__ T name[];")
endif()
