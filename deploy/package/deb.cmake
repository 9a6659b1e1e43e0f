# Four packages of Debian.
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL daemon client devel python)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${release})
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(packages nanwatch libnanwatch0 libnanwatch-dev python3-nanwatch)
set(components daemon client devel python)
foreach(package component IN ZIP_LISTS packages components)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(doc ${CMAKE_INSTALL_DATADIR}/doc/${package})
  install(FILES ${papers}/copyright ${papers}/changelog.gz
                ${papers}/changelog.Debian.gz
          DESTINATION ${doc} COMPONENT ${component})
  install(FILES ${here}/debian/${component}/overrides RENAME ${package}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides
          COMPONENT ${component})
endforeach()

set(CPACK_DEBIAN_DAEMON_PACKAGE_SECTION science)
set(CPACK_COMPONENT_DAEMON_DESCRIPTION "watches the numerics of training runs
nanwatchd takes the loss, the loss scale and the norms of trainings, and says
within a step which op, rank and step began a trouble, and what to do.
nanwatch is the command that asks it, and that judges the logs of trainings
without it.")
set(CPACK_DEBIAN_DAEMON_PACKAGE_DEPENDS
    "systemd | systemd-standalone-sysusers")
set(CPACK_DEBIAN_DAEMON_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_DAEMON_PACKAGE_SUGGESTS
    "python3-nanwatch, prometheus-alertmanager")
set(CPACK_DEBIAN_DAEMON_PACKAGE_CONTROL_EXTRA
    ${here}/debian/conffiles ${here}/debian/daemon/postinst
    ${here}/debian/daemon/prerm ${here}/debian/daemon/postrm)

set(CPACK_DEBIAN_CLIENT_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_CLIENT_DESCRIPTION "reports a training's numbers to nanwatchd
By this library a training in C or C++ reports its loss, loss scale, norms and
the state of its ops. It never makes the training wait.")
set(CPACK_DEBIAN_CLIENT_PACKAGE_CONTROL_EXTRA ${here}/debian/client/triggers)

set(CPACK_DEBIAN_DEVEL_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVEL_DESCRIPTION "reports a training's numbers to nanwatchd (development)
Headers, the static library, and what pkg-config and CMake find it by.")
set(CPACK_DEBIAN_DEVEL_PACKAGE_DEPENDS
    "libnanwatch0 (= ${PROJECT_VERSION}-${release})")

set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "hooks by which Python trainings report to nanwatchd
Two lines report the loss, the loss scale, the norms and the state of the ops
of a training in PyTorch, JAX, Keras, MindSpore, PaddlePaddle and others.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "python3 (>= 3.9), python3-grpcio (>= 1.49)")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS nanwatch)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-zstandard)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    ${here}/debian/python/postinst ${here}/debian/python/prerm)
set(python_folder lib/python3/dist-packages)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/client_lib/python/src/nanwatch
        DESTINATION ${python_folder} COMPONENT python
        PATTERN __pycache__ EXCLUDE)
install(FILES ${papers}/METADATA ${papers}/INSTALLER COMPONENT python
        DESTINATION ${python_folder}/nanwatch-${PROJECT_VERSION}.dist-info)
