# A test that needs a GPU and nvcc, on a machine without. cmake -DWHY=... -P skip.cmake
if("$ENV{SIXDAYS_REQUIRE_GPU}" STREQUAL "1")
    message(FATAL_ERROR "SIXDAYS_REQUIRE_GPU=1, but ${WHY}")
endif()
message("SKIPPED: ${WHY}")
