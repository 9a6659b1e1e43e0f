# What `cmake --install` puts where: find_package(nanwatch) and pkg-config.
include(CMakePackageConfigHelpers)

install(FILES include/nanwatch.h include/nanwatch.hpp
  include/nanwatch_sketch.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel)
install(TARGETS nanwatch_shared EXPORT nanwatch
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT client
        NAMELINK_COMPONENT devel)
install(TARGETS nanwatch_archive
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/nanwatch)
install(EXPORT nanwatch NAMESPACE nanwatch:: FILE nanwatch-config.cmake
        DESTINATION ${package_dir} COMPONENT devel)
write_basic_package_version_file(
  ${CMAKE_CURRENT_BINARY_DIR}/nanwatch-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nanwatch-config-version.cmake
        DESTINATION ${package_dir} COMPONENT devel)

# From the file to the prefix, e.g. ../../.. out of lib/x86_64-linux-gnu.
file(RELATIVE_PATH NANWATCH_PC_UP
     /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
# A static library counts where it stands last.
set(private_libs ${GRPCPP_STATIC_LDFLAGS} -lprotobuf -lstdc++ -lm -pthread)
list(REVERSE private_libs)
list(REMOVE_DUPLICATES private_libs)
list(REVERSE private_libs)
list(JOIN private_libs " " NANWATCH_PC_PRIVATE)
configure_file(${CMAKE_CURRENT_LIST_DIR}/nanwatch.pc.in nanwatch.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nanwatch.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)
