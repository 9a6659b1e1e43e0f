# nanwatch_folder(NAME [PURE] SOURCES ... [DEPS ...] [LIBS ...])
#
# One static library a folder, named nanwatch_NAME, so that the link graph says
# the same as the layer table in DESIGN.md. DEPS are folders of ours, LIBS
# third-party targets. PURE folders decide, and must decide alike everywhere:
# they are compiled without contraction of floating-point expressions.
function(nanwatch_folder NAME)
  cmake_parse_arguments(F "PURE" "" "SOURCES;DEPS;LIBS" ${ARGN})
  add_library(nanwatch_${NAME} STATIC ${F_SOURCES})
  target_include_directories(nanwatch_${NAME} PUBLIC ${CMAKE_SOURCE_DIR}/daemon)
  if(F_PURE)
    target_compile_options(nanwatch_${NAME} PRIVATE -ffp-contract=off)
  endif()
  foreach(dep IN LISTS F_DEPS)
    target_link_libraries(nanwatch_${NAME} PUBLIC nanwatch_${dep})
  endforeach()
  target_link_libraries(nanwatch_${NAME} PUBLIC ${F_LIBS})
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
  endif()
  add_test(NAME ${NAME}_tests COMMAND ${NAME}_tests)
  set_tests_properties(${NAME}_tests PROPERTIES TIMEOUT 300)
  if(T_CORE)
    set_tests_properties(${NAME}_tests PROPERTIES LABELS core)
    add_dependencies(core_tests ${NAME}_tests)
  endif()
endfunction()
