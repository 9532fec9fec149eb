# cmake -DINPUT=a.cu -DOUTPUT=a.cu.cpp -P translate.cmake
#
# Rewrites the three things that CUDA says and C++ cannot, and nothing else; lines keep their numbers.
#   kernel<<<grid, block>>>(args)     -> configure("kernel", ..., grid, block)(args)
#   extern __shared__ float tile[];   -> float* tile = dynamic_shared<float>();
#   __shared__ float tile[16][17];    -> a Shared<float[16][17]>, and `tile`, a reference to it
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

set(align "([ \t]*(__align__|alignas)[(][^()]*[)])?")
set(type "([A-Za-z_]([A-Za-z0-9_:<>, \t]*[A-Za-z0-9_>*])?)")
set(end "[ \t]*${semicolon}")
string(REGEX REPLACE
    "extern[ \t]+__shared__${align}[ \t]+${type}${align}[ \t]+(${id})[ \t]*${open}[ \t]*${close}${end}"
    "\\3* \\7 = ${emulator}::dynamic_shared<\\3>()${semicolon}" text "${text}")
string(CONCAT shared
    "static thread_local ${emulator}::Shared<\\4\\7> sixdays_\\6${semicolon} "
    "auto& \\6 = sixdays_\\6.open()${semicolon}")
string(REGEX REPLACE
    "(static[ \t]+)?__shared__${align}[ \t]+${type}[ \t]+(${id})[ \t]*((${open}[^${close}]*${close})*)${end}"
    "${shared}" text "${text}")

# A variable, not a function: no parenthesis before its first `=`, `{` or `;`.
set(not_function "[^${semicolon}={()\n]")
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
string(REGEX REPLACE "//[^\n]*" "" code "${text}")
if(code MATCHES "<<<|__shared__")
    string(REGEX MATCH "^.*(<<<|__shared__)" before "${code}")  # the last one
    string(REGEX REPLACE "[^\n]" "" before "\n${before}")
    string(LENGTH "${before}" line)
    message(FATAL_ERROR "${INPUT}:${line}: the emulator cannot read the CUDA of this line.\n"
        "Write a launch as  kernel<<<grid, block>>>(args)  with the kernel's name (ns::name and "
        "template arguments are fine) right before <<<, no ';' or lambda between <<< and >>>, and no "
        "<<< in a string. Write shared memory as  __shared__ T name[N];  one variable a statement, or "
        "extern __shared__ T name[];")
endif()
