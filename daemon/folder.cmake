# The standard library and GoogleTest, read once for all: most of the time that
# a small file takes to compile. CMAKE_DISABLE_PRECOMPILE_HEADERS=ON does
# without, as the sanitizers' presets do: there a missing include is an error.
set(NANWATCH_COMMON_HEADERS
    <algorithm> <array> <chrono> <cmath> <cstdint> <functional> <map> <memory>
    <optional> <span> <string> <string_view> <utility> <vector>)

# nanwatch_precompile(NAME HEADERS ... [LIBS ...] [OPTIONS ...])
#
# A library whose precompiled headers others take over by REUSE_FROM; OPTIONS
# are those that they are compiled with, and must be the same.
function(nanwatch_precompile NAME)
  cmake_parse_arguments(P "" "" "HEADERS;LIBS;OPTIONS" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${NAME} OBJECT ${source})
  target_link_libraries(${NAME} PRIVATE ${P_LIBS})
  target_compile_options(${NAME} PRIVATE ${P_OPTIONS})
  target_precompile_headers(${NAME} PRIVATE ${P_HEADERS})
endfunction()

# nanwatch_folder(NAME [PURE] [SPEAKS_PROTO] [APART]
#                 SOURCES ... [DEPS ...] [LIBS ...])
#
# One static library a folder, named nanwatch_NAME, so that the link graph says
# the same as the layer table in DESIGN.md. DEPS are folders of ours, LIBS
# third-party targets. PURE folders decide, and must decide alike everywhere:
# they are compiled without contraction of floating-point expressions. Those that
# SPEAKS_PROTO find the messages of the wire among their precompiled headers.
# CMAKE_UNITY_BUILD compiles files of a folder together, but those of one that
# is APART: there they may share names.
function(nanwatch_folder NAME)
  cmake_parse_arguments(F "PURE;SPEAKS_PROTO;APART" "" "SOURCES;DEPS;LIBS" ${ARGN})
  add_library(nanwatch_${NAME} STATIC ${F_SOURCES})
  target_include_directories(nanwatch_${NAME} PUBLIC ${CMAKE_SOURCE_DIR}/daemon)
  if(F_PURE)
    target_compile_options(nanwatch_${NAME} PRIVATE -ffp-contract=off)
  endif()
  if(F_APART)
    set_target_properties(nanwatch_${NAME} PROPERTIES UNITY_BUILD OFF)
  endif()
  foreach(dep IN LISTS F_DEPS)
    target_link_libraries(nanwatch_${NAME} PUBLIC nanwatch_${dep})
  endforeach()
  target_link_libraries(nanwatch_${NAME} PUBLIC ${F_LIBS})
  set(headers nanwatch_common_headers)
  if(F_SPEAKS_PROTO)
    set(headers nanwatch_proto_headers)
  endif()
  target_precompile_headers(nanwatch_${NAME} REUSE_FROM ${headers})
  # Beside precompiled headers gcc 12 forgets which lines are the standard
  # library's, and tells its wrong guesses about them as errors.
  target_compile_options(nanwatch_${NAME} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds$<SEMICOLON>-Wno-stringop-overread>)
endfunction()

# nanwatch_tests(NAME [CORE] [HEAVY] SOURCES ... [DEPS ...] [LIBS ...])
#
# A GoogleTest program NAME_tests. CORE ones link no gRPC and also run under
# ThreadSanitizer: the target core_tests builds them all, `ctest -L core` runs
# them. What a test checks is optimised, the test itself only if it is HEAVY:
# with GoogleTest's macros that is half of a build's time.
function(nanwatch_tests NAME)
  cmake_parse_arguments(T "CORE;HEAVY" "" "SOURCES;DEPS;LIBS" ${ARGN})
  add_executable(${NAME}_tests ${T_SOURCES})
  target_include_directories(${NAME}_tests PRIVATE ${CMAKE_SOURCE_DIR})
  foreach(dep IN LISTS T_DEPS)
    target_link_libraries(${NAME}_tests PRIVATE nanwatch_${dep})
  endforeach()
  target_link_libraries(${NAME}_tests PRIVATE ${T_LIBS} GTest::gmock_main)
  if(NOT T_HEAVY)
    target_compile_options(${NAME}_tests PRIVATE $<$<CONFIG:Release>:-O0>)
    target_precompile_headers(${NAME}_tests REUSE_FROM nanwatch_test_headers)
  endif()
  add_test(NAME ${NAME}_tests COMMAND ${NAME}_tests)
  set_tests_properties(${NAME}_tests PROPERTIES TIMEOUT ${NANWATCH_TEST_TIMEOUT})
  if(T_CORE)
    set_tests_properties(${NAME}_tests PROPERTIES LABELS core)
    add_dependencies(core_tests ${NAME}_tests)
  endif()
endfunction()
