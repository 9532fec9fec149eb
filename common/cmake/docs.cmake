# Target `docs`: Doxygen over the headers, lessons and pages; every warning is an error.
find_package(Doxygen 1.9.4 QUIET OPTIONAL_COMPONENTS dot)
set(SIXDAYS_HAVE_DOCS ${DOXYGEN_FOUND})
if(NOT DOXYGEN_FOUND)
    set(SIXDAYS_WHY_NO_DOCS "Doxygen was not found (common/learn docs installs it)")
    return()
endif()

set(DOXYGEN_PROJECT_NAME "Six days from flat memory to a transformer")
set(DOXYGEN_USE_MDFILE_AS_MAINPAGE ${PROJECT_SOURCE_DIR}/README.md)
set(DOXYGEN_FILE_PATTERNS *.hpp *.cu *.md)
set(DOXYGEN_EXTENSION_MAPPING cu=C++)
set(DOXYGEN_EXCLUDE_PATTERNS */runtime/* */emulator/include/* */exercises/*_hints.md */wrong/*)
set(DOXYGEN_IMAGE_PATH ${PROJECT_SOURCE_DIR})
set(DOXYGEN_EXTRACT_ANON_NSPACES NO)
set(DOXYGEN_EXTRACT_STATIC NO)
set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
set(DOXYGEN_WARN_IF_UNDOCUMENTED NO)
set(DOXYGEN_WARN_IF_INCOMPLETE_DOC NO)  # a parameter is described where its name does not say all
set(DOXYGEN_QUIET YES)
set(DOXYGEN_MACRO_EXPANSION YES)
set(DOXYGEN_EXPAND_ONLY_PREDEF YES)
set(DOXYGEN_PREDEFINED SIXDAYS_HD= __global__= __device__= __host__= __restrict__=
    "__launch_bounds__(...)=" __forceinline__=inline __shared__=static __grid_constant__=)
set(DOXYGEN_GENERATE_TREEVIEW YES)
set(DOXYGEN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/docs)
find_path(theme doxygen-awesome.css PATHS /usr/share /usr/local/share
    PATH_SUFFIXES doxygen-awesome-css NO_DEFAULT_PATH NO_CACHE)
if(theme)
    set(DOXYGEN_HTML_EXTRA_STYLESHEET ${theme}/doxygen-awesome.css
        ${theme}/doxygen-awesome-sidebar-only.css)
    if(DOXYGEN_VERSION VERSION_GREATER_EQUAL 1.9.5)
        set(DOXYGEN_HTML_COLORSTYLE LIGHT)
    endif()
endif()
file(GLOB days RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/day[0-9][0-9]_*)
doxygen_add_docs(docs README.md CONTRIBUTING.md common ${days}
    COMMENT "the documentation: build/.../docs/html/index.html")
