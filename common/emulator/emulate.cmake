# sixdays_emulated_library(<name> <file.cu>...): a static library of CUDA files, for the CPU.
# sixdays_emulated_objects(<name> <file.cu>...): the same without an archive, for one program.
# If SIXDAYS_LOCALS is --locals=own, reads of their uninitialized local variables are reported.

cmake_path(SET SIXDAYS_ROOT NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../..)

# -Og keeps every load and store of the source; higher levels merge or duplicate them.
# thread: calls our own __tsan_read4, __tsan_write4, ... before each access. Not for linking.
# undefined: checks indices, shifts and overflows. The calls already catch null and stray pointers,
# and checking those twice would cost a third of the compile time.
# trivial-auto-var-init: an uninitialized variable holds a conspicuous value (-1.7e38 in a float).
# Disabling recovery after a bug and the last three optimisations saves a quarter of compile time.
set(SIXDAYS_EMULATED_FLAGS -gdwarf-4 -g1 -Og -fno-tree-vectorize -fno-tree-slp-vectorize
    -fsanitize=thread,undefined,float-cast-overflow -fno-sanitize=vptr,null,pointer-overflow
    -fno-sanitize-recover=undefined -fsanitize-recover=signed-integer-overflow,float-cast-overflow
    -ftrivial-auto-var-init=pattern "SHELL:--param tsan-distinguish-volatile=1" -Wno-unknown-pragmas
    -fira-region=one -fno-forward-propagate -fno-reorder-blocks)

# Evaluated where a library is defined, since the pages set the option for two programs only.
macro(sixdays_emulated_flags)
    set(flags ${SIXDAYS_EMULATED_FLAGS})
    if(SIXDAYS_DEBUG_KERNELS)  # for single-stepping: keep every variable and every line
        list(APPEND flags -O0 -g3)
    endif()
endmacro()

# sixdays_as_built(<library>...): takes them from the build tree SIXDAYS_KERNELS (same files).
function(sixdays_as_built)
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_BINARY_DIR BASE_DIRECTORY ${PROJECT_BINARY_DIR}
        OUTPUT_VARIABLE folder)
    foreach(library IN LISTS ARGN)
        set_target_properties(${library} PROPERTIES SOURCES ${PROJECT_BINARY_DIR}/nothing.cpp)
        target_link_libraries(${library} PRIVATE ${SIXDAYS_KERNELS}/${folder}/lib${library}.a)
    endforeach()
endfunction()

function(sixdays_emulated_library name)
    sixdays_emulated(${name} STATIC ${ARGN})
endfunction()

function(sixdays_emulated_objects name)
    sixdays_emulated(${name} OBJECT ${ARGN})
endfunction()

function(sixdays_emulated name kind)
    if(SIXDAYS_KERNELS)
        add_library(${name} STATIC)
        sixdays_as_built(${name})
        target_link_libraries(${name} PUBLIC sixdays_emulator)
        return()
    endif()
    set(generated "")
    set(folders "")
    foreach(file IN LISTS ARGN)
        cmake_path(ABSOLUTE_PATH file NORMALIZE OUTPUT_VARIABLE input)
        cmake_path(GET input FILENAME base)
        cmake_path(GET input PARENT_PATH folder)
        string(MD5 tag "${folder}")      # files of the same name may come from different folders
        string(SUBSTRING ${tag} 0 6 tag)
        set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.emulated/${tag}/${base}.cpp)
        add_custom_command(
            OUTPUT ${output}
            COMMAND sixdays_translate ${SIXDAYS_LOCALS} ${input} ${output} ${output}.d ${SIXDAYS_ROOT}
            DEPENDS ${input} sixdays_translate
            DEPFILE ${output}.d
            COMMENT "Translating ${base} for the emulator"
            VERBATIM)
        list(APPEND generated ${output})
        list(APPEND folders ${folder})
    endforeach()
    list(REMOVE_DUPLICATES folders)
    list(TRANSFORM folders PREPEND -iquote)

    add_library(${name} ${kind} ${generated})
    target_link_libraries(${name} PUBLIC sixdays_emulator PRIVATE sixdays_flags)
    sixdays_emulated_flags()
    target_compile_options(${name} PRIVATE ${flags} ${folders})
    if(TARGET sixdays_kernel_headers AND NOT as_others_write)
        target_precompile_headers(${name} REUSE_FROM sixdays_kernel_headers)
    else()
        target_compile_options(${name} PRIVATE -include cuda_runtime.h)
    endif()
endfunction()

# sixdays_kernel_headers(<header>...): precompiles them once for all kernels declared later. Parsing
# them takes as long as compiling a small kernel.
function(sixdays_kernel_headers)
    if(SIXDAYS_KERNELS)
        return()
    endif()
    file(TOUCH ${CMAKE_CURRENT_BINARY_DIR}/no_kernel.cpp)
    add_library(sixdays_kernel_headers OBJECT ${CMAKE_CURRENT_BINARY_DIR}/no_kernel.cpp)
    target_link_libraries(sixdays_kernel_headers PRIVATE sixdays_emulator sixdays_flags)
    sixdays_emulated_flags()
    target_compile_options(sixdays_kernel_headers PRIVATE ${flags})
    target_precompile_headers(sixdays_kernel_headers PRIVATE ${ARGN})
endfunction()

# sixdays_tried_program(<name> <file.cu> [<compiler option>...]): an executable from a CUDA program
# of one file with its own main. It prints what the emulator finds.
function(sixdays_tried_program name file)
    set(as_others_write ON)  # only CUDA's headers, as in other people's programs
    sixdays_emulated_library(${name}_kernels "${file}")
    target_compile_options(${name}_kernels PRIVATE -w ${ARGN})
    target_link_libraries(${name}_kernels PUBLIC sixdays_emulator_libraries)
    if(NOT TARGET sixdays_tried_report)
        add_library(sixdays_tried_report OBJECT ${SIXDAYS_ROOT}/common/emulator/try/report.cpp)
        target_link_libraries(sixdays_tried_report PRIVATE sixdays_emulator sixdays_flags)
        set_target_properties(sixdays_tried_report PROPERTIES EXCLUDE_FROM_ALL ON CXX_STANDARD 20)
    endif()
    add_executable(${name} $<TARGET_OBJECTS:sixdays_tried_report>)
    target_link_libraries(${name} PRIVATE ${name}_kernels sixdays_flags)
    target_link_options(${name} PRIVATE -Wl,--wrap=main,--wrap=_exit,--wrap=_Exit)
    set_target_properties(${name} ${name}_kernels PROPERTIES EXCLUDE_FROM_ALL ON CXX_STANDARD 20)
endfunction()
