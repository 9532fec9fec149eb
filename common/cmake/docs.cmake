# Target `docs`: Doxygen over the pages in docs/ and the headers; every warning is an error. What the
# pages print is captured from the programs while they are built, so it cannot go stale; what cannot
# be captured on this machine (no gdb, no PCRE2) is shown as docs/*.md has it.
if(SIXDAYS_SANITIZE)
    set(SIXDAYS_HAVE_DOCS FALSE)
    set(SIXDAYS_WHY_NO_DOCS "the default preset builds them")
    return()
endif()
find_package(Doxygen 1.9.4 QUIET OPTIONAL_COMPONENTS dot)
set(SIXDAYS_HAVE_DOCS ${DOXYGEN_FOUND})
if(NOT DOXYGEN_FOUND)
    set(SIXDAYS_WHY_NO_DOCS "Doxygen was not found (common/learn docs installs it)")
    return()
endif()
find_package(Python3 QUIET COMPONENTS Interpreter)
if(NOT Python3_FOUND)
    set(SIXDAYS_HAVE_DOCS FALSE)
    set(SIXDAYS_WHY_NO_DOCS "python3 was not found (common/learn docs installs it)")
    return()
endif()

set(site ${PROJECT_SOURCE_DIR}/docs/site)       # style, scripts, helpers
set(made ${PROJECT_BINARY_DIR}/docs)            # everything that is made here; the pages in html/
set(outputs ${made}/outputs)                    # what programs printed
file(MAKE_DIRECTORY ${outputs})
file(GLOB days CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/day[0-9][0-9]_*/main.cpp)
list(TRANSFORM days REPLACE "/main.cpp" "")

# --- what programs print --------------------------------------------------------------------------
set(captured "")

# sixdays_capture(<name> <target> <arguments> [<option for capture.py>...])
function(sixdays_capture name target arguments)
    separate_arguments(arguments UNIX_COMMAND "${arguments}")
    add_custom_command(OUTPUT ${outputs}/${name}.txt
        COMMAND ${Python3_EXECUTABLE} ${site}/capture.py ${outputs}/${name}.txt ${ARGN} --
                $<TARGET_FILE:${target}> ${arguments}
        DEPENDS ${target} ${site}/capture.py ${PROJECT_SOURCE_DIR}/common/cmake/wrong.py
        COMMENT "Capturing what ${target} prints" VERBATIM)
    set(captured ${captured} ${outputs}/${name}.txt PARENT_SCOPE)
endfunction()

# sixdays_capture_changed(<name> <file> <part> <instead>): what a program reports with a part replaced
function(sixdays_capture_changed name file part instead)
    file(READ ${file} text)
    string(REPLACE "${part}" "${instead}" changed "${text}")
    if(changed STREQUAL text)
        message(FATAL_ERROR "${file} has no '${part}', which a page asks its readers to change")
    endif()
    get_filename_component(copy ${file} NAME)
    set(copy ${CMAKE_CURRENT_BINARY_DIR}/${name}/${copy})
    file(CONFIGURE OUTPUT ${copy} @ONLY CONTENT "#line 1 \"${file}\"\n${changed}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    sixdays_tried_program(example_${name} ${copy})
    sixdays_capture(${name} example_${name} "" --fails)
    set(captured ${captured} PARENT_SCOPE)
endfunction()

# Each day as a run and as a trace; and, of the planted mistakes, those that a page names, as the
# day's own tests reject them.
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
list(APPEND pages ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pages})
set(rejected "")
foreach(page IN LISTS pages)
    file(STRINGS ${page} names REGEX "^ *```text day[0-9][0-9]_[a-z0-9_]*wrong_")
    list(APPEND rejected ${names})
endforeach()
foreach(day IN LISTS days)
    sixdays_capture(${day} ${day}_emulated --no-timing)
    sixdays_capture(${day}_trace ${day}_emulated --trace)
endforeach()
get_property(wrong GLOBAL PROPERTY SIXDAYS_WRONG)
foreach(kernel IN LISTS wrong)
    string(REPLACE "=" ";" kernel ${kernel})
    list(POP_FRONT kernel name source)
    if(TARGET ${name} AND rejected MATCHES "text ${name}.txt")
        sixdays_capture(${name} ${name} "-r xml" --wrong ${source})
    endif()
endforeach()
# The examples of the pages try and debug: what the emulator says, and what is entered in gdb.
set(example ${PROJECT_SOURCE_DIR}/docs/examples/row_sums)
sixdays_tried_program(example_row_sums ${example}.cu)
sixdays_capture(try_row_sums example_row_sums "" --fails)
sixdays_capture(standalone day01_standalone_emulated "")
# Changes that pages ask of their readers; the reports name the lines of the right files.
sixdays_capture_changed(standalone_no_guard
    ${PROJECT_SOURCE_DIR}/day01_flat_memory/standalone.cu "if (i < n) " "")
set(overlap ${PROJECT_SOURCE_DIR}/docs/examples/overlap.cu)
sixdays_tried_program(example_overlap ${overlap})
sixdays_capture(overlap example_overlap "")
sixdays_capture_changed(try_overlap_no_wait ${overlap}
    "for (int s = 0; s < slots; ++s) check(cudaStreamSynchronize"
    "// for (int s = 0; s < slots; ++s) check(cudaStreamSynchronize")
sixdays_capture_changed(try_overlap_reuse ${overlap} "check(cudaEventSynchronize"
    "// check(cudaEventSynchronize")
# The program that measures for the same page; it must run, but its times here say nothing.
sixdays_tried_program(example_copies ${PROJECT_SOURCE_DIR}/docs/examples/copies.cu)
sixdays_capture(copies example_copies 4096)
# Faster steps of one type alone, before the general ones.
foreach(program add_faster transpose_in_flight)
    sixdays_tried_program(example_${program} ${PROJECT_SOURCE_DIR}/docs/examples/${program}.cu)
    sixdays_capture(${program} example_${program} "")
endforeach()
# Softmax of one type and one length, before Day 06's general kernel.
sixdays_tried_program(example_softmax_in_registers
    ${PROJECT_SOURCE_DIR}/docs/examples/softmax_in_registers.cu)
sixdays_capture(softmax_in_registers example_softmax_in_registers "")
# When it goes wrong: one run for each `// [mark]`. One page to carry: its numbers.
set(mistakes ${PROJECT_SOURCE_DIR}/docs/examples/mistakes.cu)
sixdays_tried_program(example_mistakes ${mistakes})
file(STRINGS ${mistakes} names REGEX "^ *// \\[")
list(REMOVE_DUPLICATES names)
foreach(name IN LISTS names)
    string(REGEX REPLACE ".*\\[(.*)\\].*" "\\1" name "${name}")
    sixdays_capture(mistake_${name} example_mistakes ${name} --fails)
endforeach()
sixdays_tried_program(example_carry ${PROJECT_SOURCE_DIR}/docs/examples/carry.cu)
target_link_libraries(example_carry_kernels PRIVATE sixdays_tensor)
sixdays_capture(carry example_carry "")
# The GPT-2: its flags, and what the shipped model says. The emulated programs print the same, and the pages
# need not wait for what nvcc compiles.
sixdays_capture(gpt2_help gpt2_emulated --help)
sixdays_capture(gpt2_train_help gpt2_train_emulated --help)
if(SIXDAYS_HAVE_PCRE2)
    set(model ${PROJECT_SOURCE_DIR}/day06_transformer_ops/gpt2/strides_model/strides.gguf)
    sixdays_capture(gpt2_says gpt2_emulated
        "--model '${model}' --prompt 'shape 3 4 5 ->' --temperature 0")
endif()
sixdays_capture(gpt2_strides gpt2_strides_emulated "--backend cpu")
sixdays_capture(gpt2_follow gpt2_strides_emulated "--follow shape 3 4 5")
set(SIXDAYS_DEBUG_KERNELS ON)
sixdays_tried_program(debug_row_sums ${example}.cu)
sixdays_tried_program(debug_row_sums_right ${example}_right.cu)
set(SIXDAYS_DEBUG_KERNELS OFF)
find_program(SIXDAYS_GDB gdb)
mark_as_advanced(SIXDAYS_GDB)
if(SIXDAYS_GDB)
    sixdays_capture(debug_row_sums debug_row_sums "-ex run" --gdb ${example}.gdb)
    sixdays_capture(debug_row_sums_right debug_row_sums_right
        "-ex 'break row_sums_right.cu:16 if blockIdx.x == 2 && threadIdx.x == 5' -ex run"
        --gdb ${example}_right.gdb)
endif()
add_custom_target(docs_outputs DEPENDS ${captured})

# --- the pages as Doxygen reads them --------------------------------------------------------------
list(REMOVE_ITEM pages ${PROJECT_SOURCE_DIR}/docs/README.md)
list(TRANSFORM pages REPLACE "/README.md$" "/index.md")
list(TRANSFORM pages REPLACE "^.*/" "${made}/pages/" OUTPUT_VARIABLE made_pages)

# --- the reference: its groups, and what Doxygen reads instead of a header ------------------------
# Doxygen starts the filter twice per header: by the interpreter itself, not by a script that looks for it.
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)"
    OUTPUT_VARIABLE python OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(reference ${python} -S -E ${site}/reference.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${site}/reference.py)
execute_process(COMMAND ${reference} --left-out OUTPUT_VARIABLE DOXYGEN_EXCLUDE_PATTERNS
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
list(JOIN reference "' '" filter)
set(DOXYGEN_VERBATIM_VARS DOXYGEN_FILTER_PATTERNS)
set(DOXYGEN_FILTER_PATTERNS "*.hpp=\"'${filter}'\"")

# --- what Doxygen reads ---------------------------------------------------------------------------
set(DOXYGEN_PROJECT_NAME "Six days")
set(DOXYGEN_PROJECT_BRIEF "from flat memory to a transformer")
set(DOXYGEN_OUTPUT_DIRECTORY ${made})
set(DOXYGEN_USE_MDFILE_AS_MAINPAGE ${made}/pages/index.md)
set(DOXYGEN_FILE_PATTERNS *.hpp *.cu *.cpp *.md *.dox)
set(DOXYGEN_EXTENSION_MAPPING cu=C++ cuda=C++)
set(DOXYGEN_EXCLUDE_SYMBOLS *::detail *::detail::* sixdays::gpu::tests* SIXDAYS_HD CUstream_st
    CUevent_st)
set(DOXYGEN_EXAMPLE_PATH ${PROJECT_SOURCE_DIR} ${made}/pages ${outputs})
set(DOXYGEN_STRIP_FROM_PATH ${PROJECT_SOURCE_DIR})
set(DOXYGEN_FULL_PATH_NAMES YES)
set(DOXYGEN_EXTRACT_ANON_NSPACES NO)
set(DOXYGEN_EXTRACT_STATIC NO)
set(DOXYGEN_STRIP_CODE_COMMENTS NO)
set(DOXYGEN_HIDE_UNDOC_MEMBERS YES)  # functions of the steps; undocumented.py holds the rest
set(DOXYGEN_HIDE_UNDOC_CLASSES YES)
set(DOXYGEN_HIDE_SCOPE_NAMES YES)
set(DOXYGEN_SORT_MEMBER_DOCS NO)
set(DOXYGEN_ALWAYS_DETAILED_SEC YES)    # an entry that search and links can lead to
set(DOXYGEN_JAVADOC_AUTOBRIEF YES)
set(DOXYGEN_WARN_IF_UNDOCUMENTED NO)
set(DOXYGEN_WARN_IF_INCOMPLETE_DOC NO)  # a parameter is described where its name does not say all
set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
set(DOXYGEN_QUIET YES)
set(DOXYGEN_MACRO_EXPANSION YES)
set(DOXYGEN_EXPAND_ONLY_PREDEF YES)
set(DOXYGEN_PREDEFINED SIXDAYS_HD= __global__= __device__= __host__= __restrict__=
    "__launch_bounds__(...)=" __forceinline__=inline __shared__=static __grid_constant__=)
set(DOXYGEN_HAVE_DOT NO)

# --- what the pages look like ---------------------------------------------------------------------
set(DOXYGEN_GENERATE_HTML YES)
set(DOXYGEN_GENERATE_LATEX NO)
set(DOXYGEN_GENERATE_TREEVIEW YES)
set(DOXYGEN_DISABLE_INDEX NO)
set(DOXYGEN_TOC_INCLUDE_HEADINGS 2)
set(DOXYGEN_HTML_DYNAMIC_SECTIONS NO)
set(DOXYGEN_SOURCE_BROWSER YES)
set(DOXYGEN_HTML_EXTRA_STYLESHEET "")
set(scripts "")
# By name: what the live pictures share comes before each kind of picture.
file(GLOB explorers CONFIGURE_DEPENDS RELATIVE ${site} ${site}/explorers/explore*.js)
foreach(script pairs.js outline.js push.js ${explorers})
    list(APPEND DOXYGEN_HTML_EXTRA_FILES ${site}/${script})
    get_filename_component(script ${script} NAME)
    string(APPEND scripts "<script src=\"$relpath^${script}\"></script>\n")
endforeach()
find_file(SIXDAYS_LUNR lunr.min.js PATHS /usr/share /usr/local/share PATH_SUFFIXES javascript/lunr
    NO_DEFAULT_PATH)
mark_as_advanced(SIXDAYS_LUNR)
if(SIXDAYS_LUNR)  # full text over all pages
    list(APPEND DOXYGEN_HTML_EXTRA_FILES ${site}/search_pages.js ${SIXDAYS_LUNR})
    string(APPEND scripts "\n<script src=\"$relpath^search_pages.js\"></script>")
else()
    message(STATUS "docs: lunr was not found (libjs-lunr); the search finds names of the reference only")
endif()
if(DOXYGEN_VERSION VERSION_GREATER_EQUAL 1.9.5)
    set(DOXYGEN_HTML_COLORSTYLE LIGHT)          # the theme brings its own dark
endif()
if(DOXYGEN_VERSION VERSION_GREATER_EQUAL 1.10)
    set(DOXYGEN_HTML_COPY_CLIPBOARD NO)         # so does the theme its copy button
endif()
find_path(SIXDAYS_DOXYGEN_AWESOME doxygen-awesome.css PATHS /usr/share /usr/local/share
    PATH_SUFFIXES doxygen-awesome-css NO_DEFAULT_PATH)
mark_as_advanced(SIXDAYS_DOXYGEN_AWESOME)
if(SIXDAYS_DOXYGEN_AWESOME)
    set(theme ${SIXDAYS_DOXYGEN_AWESOME}/doxygen-awesome)
    list(APPEND DOXYGEN_HTML_EXTRA_STYLESHEET ${theme}.css ${theme}-sidebar-only.css
        ${theme}-sidebar-only-darkmode-toggle.css)
    list(APPEND DOXYGEN_HTML_EXTRA_FILES ${theme}-darkmode-toggle.js
        ${theme}-fragment-copy-button.js ${theme}-paragraph-link.js)
    string(APPEND scripts [[

<script src="$relpath^doxygen-awesome-darkmode-toggle.js"></script>
<script src="$relpath^doxygen-awesome-fragment-copy-button.js"></script>
<script src="$relpath^doxygen-awesome-paragraph-link.js"></script>
<script>
DoxygenAwesomeDarkModeToggle.init()
DoxygenAwesomeFragmentCopyButton.init()
DoxygenAwesomeParagraphLink.init()
</script>
]])
else()
    message(STATUS "docs: doxygen-awesome-css was not found; the pages have Doxygen's own looks")
endif()
list(APPEND DOXYGEN_HTML_EXTRA_STYLESHEET ${site}/site.css ${site}/explorers/explorer.css)

# Header and layout are this Doxygen's own, with our lines put in, so they fit whichever it is.
execute_process(COMMAND ${DOXYGEN_EXECUTABLE} -w html header.html footer.html style.css
    COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET WORKING_DIRECTORY ${made})
execute_process(COMMAND ${DOXYGEN_EXECUTABLE} -l layout.xml
    COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET WORKING_DIRECTORY ${made})
file(READ ${made}/header.html header)
string(REPLACE "</head>" "${scripts}\n</head>" header "${header}")
file(WRITE ${made}/header.html "${header}")
set(DOXYGEN_HTML_HEADER ${made}/header.html)
file(READ ${made}/layout.xml layout)
string(REGEX REPLACE "type=\"(modules|topics)\" visible=\"yes\" title=\"\""
    "type=\"\\1\" visible=\"yes\" title=\"Reference\"" layout "${layout}")
string(REGEX REPLACE "type=\"(namespaces|concepts|classes|interfaces|structs|exceptions)\" visible=\"(yes|\\$[^\"]*)\""
    "type=\"\\1\" visible=\"no\"" layout "${layout}")
# Operations first: of a group, functions stand before enumerations, and other groups come last.
string(REGEX MATCH "  <group>.*</group>" group "${layout}")
string(REGEX REPLACE "\n *<(functions|nestedgroups)[^\n]*" "" ordered "${group}")
string(REGEX REPLACE "(\n *<typedefs title=\"\"/>)" "\n      <functions title=\"\"/>\\1" ordered "${ordered}")
string(REGEX REPLACE "(\n *</memberdecl>)" "\n      <nestedgroups visible=\"yes\" title=\"\"/>\\1" ordered "${ordered}")
string(REPLACE "${group}" "${ordered}" layout "${layout}")
file(WRITE ${made}/layout.xml "${layout}")
set(DOXYGEN_LAYOUT_FILE ${made}/layout.xml)

# Formulas: the part of MathJax 2 that draws them as SVG lies beside the pages, 2 MB.
set(DOXYGEN_USE_MATHJAX YES)
set(DOXYGEN_MATHJAX_VERSION MathJax_2)
set(DOXYGEN_MATHJAX_FORMAT SVG)
set(DOXYGEN_MATHJAX_RELPATH mathjax)
set(DOXYGEN_MATHJAX_EXTENSIONS TeX/AMSmath TeX/AMSsymbols)
find_path(SIXDAYS_MATHJAX MathJax.js PATHS /usr/share /usr/local/share
    PATH_SUFFIXES javascript/mathjax NO_DEFAULT_PATH)
mark_as_advanced(SIXDAYS_MATHJAX)

# --- the target -----------------------------------------------------------------------------------
list(TRANSFORM days PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE day_folders)
set(in_order ${made_pages})  # the front page and the days, pages about the tools, then the rest
list(FILTER in_order INCLUDE REGEX "/day[0-9][0-9]_[^/]*$")
list(FILTER in_order EXCLUDE REGEX "/day06_tensor_cores")  # rests on both pages of its day
list(PREPEND in_order ${made}/pages/index.md ${made}/pages/install.md)
list(FIND in_order ${made}/pages/day03_views.md day03)
list(INSERT in_order ${day03} ${made}/pages/memory.md)
foreach(page day06_tensor_cores gpt2 llama profile training training_runs cutlass_and_blackwell tests emulator tile try
        debug when_it_goes_wrong carry teaching)
    list(APPEND in_order ${made}/pages/${page}.md)
endforeach()
list(APPEND in_order ${made_pages})
list(REMOVE_DUPLICATES in_order)
doxygen_add_docs(docs_doxygen ${in_order}
    ${made}/groups.dox docs/reference.dox common ${day_folders})
set(doxyfile ${CMAKE_CURRENT_BINARY_DIR}/Doxyfile.docs_doxygen)

set(html ${made}/html)
if(SIXDAYS_MATHJAX)
    set(formulas ${CMAKE_COMMAND} -DFROM=${SIXDAYS_MATHJAX} -DTO=${html}/mathjax -P ${site}/mathjax.cmake)
else()
    message(STATUS "docs: MathJax was not found; formulas are shown as they are written in TeX")
    file(WRITE ${made}/MathJax.js "// MathJax was not found when these pages were built.\n")
    set(formulas ${CMAKE_COMMAND} -E copy ${made}/MathJax.js ${html}/mathjax/MathJax.js)
endif()

# What `common/learn bench` wrote is shown beside the H200's numbers; the committed text of the pages has none of it.
set(own ${PROJECT_SOURCE_DIR}/build/bench)
file(GLOB measured CONFIGURE_DEPENDS ${own}/day*.csv)
# Made again when a file that they show, or that makes them, has changed.
set(read ${measured} ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md)
foreach(kind awk cmake cpp css csv cu dox gdb hpp js log md patch py svg txt)
    list(TRANSFORM day_folders APPEND "/*.${kind}" OUTPUT_VARIABLE of_days)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${of_days} ${PROJECT_SOURCE_DIR}/common/*.${kind}
        ${PROJECT_SOURCE_DIR}/docs/*.${kind})
    list(APPEND read ${files})
endforeach()
set(clear COMMAND ${CMAKE_COMMAND} -E rm -rf ${html})  # pages of files that are gone
set(behind COMMAND ${reference} --groups ${made}/groups.dox
    COMMAND Doxygen::doxygen ${doxyfile}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${html}/mathjax
    COMMAND ${formulas}
    # Contents, links to the glossary, what the search reads.
    COMMAND ${Python3_EXECUTABLE} ${site}/finish.py ${html}
    # Every link of every page leads somewhere, and no page asks the network for anything.
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/docs/check_links.py ${html}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "The documentation: ${html}/index.html" VERBATIM)
add_custom_command(OUTPUT ${html}/made BYPRODUCTS ${made_pages}
    ${clear}
    COMMAND ${Python3_EXECUTABLE} ${site}/pages.py make --bench ${own} ${outputs} ${made}/pages
    ${behind}
    COMMAND ${CMAKE_COMMAND} -E touch ${html}/made
    DEPENDS ${captured} ${read} ${doxyfile})
add_custom_target(docs DEPENDS ${html}/made)
# The same in seconds, with what docs/*.md say that programs print, which .ci/run compares.
add_custom_target(docs_as_written ${clear}
    COMMAND ${Python3_EXECUTABLE} ${site}/pages.py make --bench ${own} ${made}/pages
    ${behind})

# All pages as one PDF, printed by Chromium.
set(chapters ${in_order})
list(TRANSFORM chapters REPLACE "^.*/(.*)\\.md$" "\\1")
list(REMOVE_ITEM chapters CONTRIBUTING)
add_custom_command(OUTPUT ${made}/six_days.pdf
    COMMAND ${Python3_EXECUTABLE} ${site}/book.py ${html} ${made}/six_days.pdf ${chapters}
    DEPENDS ${html}/made ${site}/book.py ${site}/book.css COMMENT "All pages as one PDF: ${made}/six_days.pdf" VERBATIM)
add_custom_target(docs_pdf DEPENDS ${made}/six_days.pdf)
set_target_properties(docs_pdf PROPERTIES SIXDAYS_CHAPTERS "${chapters}")

# --- proofs ---------------------------------------------------------------------------------------
add_test(NAME docs.pictures
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/docs/pictures/draw.py --check)
add_test(NAME docs.pictures.measured
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/docs/pictures/measured_tests.py)
add_test(NAME docs.messages COMMAND ${Python3_EXECUTABLE} ${site}/messages_tests.py)
add_test(NAME docs.pages COMMAND ${Python3_EXECUTABLE} ${site}/pages_tests.py)
add_test(NAME docs.pages.finish COMMAND ${Python3_EXECUTABLE} ${site}/finish_tests.py)
add_test(NAME docs.glossary COMMAND ${Python3_EXECUTABLE} ${site}/glossary_tests.py)
add_test(NAME docs.capture COMMAND ${Python3_EXECUTABLE} ${site}/capture_tests.py)
add_test(NAME docs.reference.filter COMMAND ${Python3_EXECUTABLE} ${site}/reference_tests.py)
# No public declaration of the reference is without text.
add_test(NAME docs.reference COMMAND ${Python3_EXECUTABLE} ${site}/undocumented.py ${doxyfile})
# What pages show of code and results is what the tree holds today.
add_test(NAME docs.pages.current COMMAND ${Python3_EXECUTABLE} ${site}/pages.py check)
set_tests_properties(docs.pictures docs.pictures.measured docs.messages docs.pages docs.pages.current
    docs.pages.finish docs.glossary docs.capture docs.reference
    docs.reference.filter PROPERTIES LABELS "docs;small")
