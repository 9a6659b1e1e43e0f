# Writes the files of the page as C++: cmake -DOUT=... -DPAGE=folder
# -DDYGRAPHS=dygraph.min.js -P embed.cmake. Their common version is a hash of
# all of them, and part of their address, so that browsers may keep them.

file(GLOB files ${PAGE}/*.css ${PAGE}/*.js ${PAGE}/*.svg)
list(SORT files)
list(PREPEND files ${PAGE}/index.html ${DYGRAPHS})
set(hashes "")
foreach(file IN LISTS files)
  file(SHA256 ${file} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 version "${hashes}")
string(SUBSTRING ${version} 0 12 version)

# Modules: asked for at once, not one after the other as imports are found.
set(preloads "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME)
  if(name MATCHES "\\.js$" AND NOT name STREQUAL arrival.js
     AND NOT file STREQUAL DYGRAPHS)
    string(APPEND preloads
      "  <link rel=\"modulepreload\" href=\"/page/${version}/${name}\">\n")
  endif()
endforeach()

set(rows "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME)
  file(SIZE ${file} size)
  if(name STREQUAL index.html)
    file(READ ${file} text)
    string(REPLACE @VERSION@ ${version} text "${text}")
    string(REPLACE @PRELOADS@ "${preloads}" text "${text}")
    string(LENGTH "${text}" size)
    string(HEX "${text}" hex)
  else()
    file(READ ${file} hex HEX)
  endif()
  if(file STREQUAL DYGRAPHS)
    set(name dygraph.js)
  endif()
  string(REGEX REPLACE "(..)" "\\\\x\\1" hex "${hex}")
  string(APPEND rows "    {\"${name}\", {\"${hex}\", ${size}}},\n")
endforeach()

file(WRITE ${OUT} "// Written by embed.cmake.
#include \"web/page_files.h\"

namespace nanwatch {
namespace {

constexpr PageFile kFiles[] = {
${rows}};

}  // namespace

std::string_view PageVersion() { return \"${version}\"; }

std::span<const PageFile> PageFiles() { return kFiles; }

}  // namespace nanwatch
")
