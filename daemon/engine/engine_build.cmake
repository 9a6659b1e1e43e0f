# cmake -DDAEMON= -DNUMBER= -DVERSION= -DOUT= -P engine_build.cmake
#
# Writes EngineVersion() and EngineBuild() (engine/engine.h) into OUT: hashes of
# the pure folders' headers, which say what a checkpoint holds, and of all their
# sources. OUT keeps its time when nothing changed.
set(all)
set(headers)
foreach(folder model scaler detect diagnose alert engine)
  file(GLOB files RELATIVE ${DAEMON} ${DAEMON}/${folder}/*.h
       ${DAEMON}/${folder}/*.cc)
  list(SORT files)
  foreach(file IN LISTS files)
    file(SHA256 ${DAEMON}/${file} hash)
    string(APPEND all "${file} ${hash}\n")
    if(file MATCHES "\\.h$")
      string(APPEND headers "${file} ${hash}\n")
    endif()
  endforeach()
endforeach()
string(SHA256 build "${all}")
string(SUBSTRING ${build} 0 12 build)
string(SHA256 layout "${headers}")
string(SUBSTRING ${layout} 0 8 layout)
set(text "// Made by engine_build.cmake.
#include \"engine/engine.h\"

namespace nanwatch {

std::string_view EngineVersion() { return \"${NUMBER}.${layout}\"; }
std::string_view EngineBuild() { return \"${VERSION}+${build}\"; }

}  // namespace nanwatch
")
file(CONFIGURE OUTPUT ${OUT} CONTENT "${text}" @ONLY)
