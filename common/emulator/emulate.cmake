# sixdays_emulated_library(<name> <file.cu>...): CUDA files as a static library that runs on the CPU.

cmake_path(SET SIXDAYS_ROOT NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../..)

# -Og: the loads and stores of the source, each once; more optimisation merges or copies them.
# thread: a call to our own __tsan_read4, __tsan_write4, ... before each. undefined: indices, shifts
# and overflows. Never linked with -fsanitize=thread: the runtime here answers the calls instead.
set(SIXDAYS_EMULATED_FLAGS -gdwarf-4 -Og -fno-tree-vectorize -fno-tree-slp-vectorize
    -fsanitize=thread,undefined -fno-sanitize=vptr
    "SHELL:--param tsan-distinguish-volatile=1" -include cuda_runtime.h -Wno-unknown-pragmas)

function(sixdays_emulated_library name)
    set(generated "")
    set(folders "")
    foreach(file IN LISTS ARGN)
        cmake_path(ABSOLUTE_PATH file NORMALIZE OUTPUT_VARIABLE input)
        cmake_path(GET input FILENAME base)
        cmake_path(GET input PARENT_PATH folder)
        string(MD5 tag "${folder}")      # two files of one name may come from two folders
        string(SUBSTRING ${tag} 0 6 tag)
        set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.emulated/${tag}/${base}.cpp)
        add_custom_command(
            OUTPUT ${output}
            COMMAND sixdays_translate ${input} ${output} ${output}.d ${SIXDAYS_ROOT}
            DEPENDS ${input} sixdays_translate
            DEPFILE ${output}.d
            COMMENT "Translating ${base} for the emulator"
            VERBATIM)
        list(APPEND generated ${output})
        list(APPEND folders ${folder})
    endforeach()
    list(REMOVE_DUPLICATES folders)
    list(TRANSFORM folders PREPEND -iquote)

    add_library(${name} STATIC ${generated})
    target_link_libraries(${name} PUBLIC sixdays_emulator PRIVATE sixdays_flags)
    target_compile_options(${name} PRIVATE ${SIXDAYS_EMULATED_FLAGS} ${folders})
endfunction()
