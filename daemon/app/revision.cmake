# cmake -DSOURCE= -DOUT= -P revision.cmake
#
# Writes Revision() (app/version.h) into OUT: of a source archive what git wrote
# into revision.txt, of a checkout what git says; empty where neither is there.
# OUT keeps its time when nothing changed.
file(READ ${SOURCE}/daemon/app/revision.txt revision)
string(STRIP "${revision}" revision)
if(NOT revision MATCHES "^[0-9a-f]+$")
  set(revision)
  if(EXISTS ${SOURCE}/.git)
    execute_process(
      COMMAND git -C ${SOURCE} describe --always --exclude=* --abbrev=40
              --dirty=+changes
      OUTPUT_VARIABLE revision ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
endif()
string(REGEX REPLACE "^([0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f])[0-9a-f]*"
       "\\1" revision "${revision}")
set(text "// Made by revision.cmake.
#include \"app/version.h\"

namespace nanwatch {

std::string_view Revision() { return \"${revision}\"; }

}  // namespace nanwatch
")
file(CONFIGURE OUTPUT ${OUT} CONTENT "${text}" @ONLY)
