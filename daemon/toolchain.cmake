# Compiler flags and the tools that make a build quick, for the whole project.

add_compile_options(-Wall -Wextra -Werror -Wno-missing-field-initializers
                    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
                    $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety>)
endif()

# Two objects with the same debug paths wherever the checkout lies.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)

# Everything is compiled so that it could be part of a shared library; there
# gcc takes no function of a file into another one unless it is told that
# nobody puts another in its place. clang does so anyway.
add_compile_options(
  $<$<OR:$<COMPILE_LANG_AND_ID:C,GNU>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-fno-semantic-interposition>)

if(NANWATCH_SANITIZE)
  # The presets compile at -O1: quick to build, and nothing is optimized away
  # that a sanitizer would have seen. gcc's guesses at uninitialized values are
  # wrong beside instrumentation; the release build makes them.
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  add_compile_options(-fsanitize=${NANWATCH_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all -g1
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${NANWATCH_SANITIZE})
endif()
if(NANWATCH_BUILD_FUZZ)
  # Coverage of all that a target reaches, or libFuzzer would be blind.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Of what runs in the daemon: deploy/profile compiles it twice. What the load did
# not reach is compiled as without a profile.
set(NANWATCH_PROFILE "" CACHE STRING
    "make: write profiles; use: compile with them (deploy/profile)")
function(nanwatch_profile)
  if(NANWATCH_PROFILE STREQUAL "make")
    add_compile_options(-fprofile-generate -fprofile-update=prefer-atomic)
  elseif(NANWATCH_PROFILE STREQUAL "use")
    # The plain build makes errors of warnings; gcc guesses more of them here.
    add_compile_options(-fprofile-use -fprofile-partial-training
                        -fprofile-correction -Wno-missing-profile -Wno-error
                        -Werror=coverage-mismatch)
  endif()
endfunction()
if(NANWATCH_PROFILE STREQUAL "make")
  add_link_options(-fprofile-generate)
endif()

find_program(NANWATCH_CCACHE ccache)
if(NANWATCH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness is what ccache asks for beside precompiled headers; with the
  # directory, what one checkout compiled serves another.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
               CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${NANWATCH_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()
find_program(NANWATCH_MOLD mold)
if(NANWATCH_MOLD AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()

# CMAKE_UNITY_BUILD compiles so many files of a folder as one. Ours: more take
# more memory, and leave cores without work.
if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
endif()
