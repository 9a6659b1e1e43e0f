# Three packages of RPM. The Python client comes by pip: where its folder is, each
# version of Python says anew.
set(CPACK_GENERATOR RPM)
set(CPACK_COMPONENTS_ALL daemon client devel)
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_MAIN_COMPONENT daemon)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_RELEASE ${release})
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_DEBUGINFO_PACKAGE OFF)
set(CPACK_RPM_PACKAGE_RELOCATABLE OFF)
# Folders that are the distribution's.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr/lib/systemd /usr/lib/systemd/system /usr/lib/sysusers.d
    /usr/lib64/cmake /usr/lib64/pkgconfig /usr/share/bash-completion
    /usr/share/bash-completion/completions /usr/share/fish
    /usr/share/fish/vendor_completions.d /usr/share/licenses /usr/share/zsh
    /usr/share/zsh/site-functions /usr/share/man/man1 /usr/share/man/man8)
set(CPACK_RPM_DAEMON_PACKAGE_NAME nanwatch)
set(CPACK_RPM_CLIENT_PACKAGE_NAME nanwatch-libs)
set(CPACK_RPM_DEVEL_PACKAGE_NAME nanwatch-devel)
set(CPACK_RPM_DEVEL_PACKAGE_REQUIRES
    "nanwatch-libs = ${PROJECT_VERSION}-${release}")
set(CPACK_RPM_DAEMON_PACKAGE_SUMMARY "watches the numerics of training runs")
set(CPACK_RPM_CLIENT_PACKAGE_SUMMARY
    "reports a training's numbers to nanwatchd")
set(CPACK_RPM_DEVEL_PACKAGE_SUMMARY
    "headers and libraries by which trainings report to nanwatchd")
set(CPACK_RPM_DAEMON_USER_FILELIST "%config(noreplace) /etc/nanwatch/nanwatch.yaml")
set(CPACK_RPM_DAEMON_POST_INSTALL_SCRIPT_FILE ${here}/rpm/post)
set(CPACK_RPM_DAEMON_PRE_UNINSTALL_SCRIPT_FILE ${here}/rpm/preun)
set(CPACK_RPM_DAEMON_POST_UNINSTALL_SCRIPT_FILE ${here}/rpm/postun)
foreach(component daemon client devel)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE
          DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/nanwatch-${component}
          COMPONENT ${component})
endforeach()
