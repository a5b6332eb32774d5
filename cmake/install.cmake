# The installed files: libraries, header, module file, pkg-config files, CMake package, tools with
# their man pages. Paths in these files are relative to the files themselves, so that an installed
# tree may be moved.
include(CMakePackageConfigHelpers)

set(chol_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/chol)
set(chol_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS chol EXPORT chol-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT chol)
install(EXPORT chol-targets NAMESPACE chol:: DESTINATION ${chol_package_dir} COMPONENT chol)
install(FILES include/chol.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT chol)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT chol)

# configure_file() with the relative path from the file's folder to the prefix.
file(RELATIVE_PATH chol_pc_to_prefix /${chol_pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" chol_pc_to_prefix ${chol_pc_to_prefix})
function(chol_install_pc name)
  configure_file(pkgconfig/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${chol_pkgconfig_dir} COMPONENT chol)
endfunction()
chol_install_pc(chol)

configure_package_config_file(pkgconfig/chol-config.cmake.in ${PROJECT_BINARY_DIR}/chol-config.cmake
  INSTALL_DESTINATION ${chol_package_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/chol-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/chol-config.cmake ${PROJECT_BINARY_DIR}/chol-config-version.cmake
  DESTINATION ${chol_package_dir} COMPONENT chol)

if(TARGET chol_fortran)
  install(TARGETS chol_fortran EXPORT chol-fortran-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT chol)
  install(EXPORT chol-fortran-targets NAMESPACE chol:: DESTINATION ${chol_package_dir}
    COMPONENT chol)
  install(FILES ${chol_module_file} DESTINATION ${chol_module_install_dir} COMPONENT chol)
  chol_install_pc(chol_fortran)
endif()

if(TARGET chol_preload)
  install(TARGETS chol_preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT chol)
endif()
if(TARGET chol-run)
  install(TARGETS chol-run RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT chol)
  install(FILES src/tools/chol-run.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT chol)
endif()

if(TARGET chol-info)
  install(TARGETS chol-info chol-tune RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT chol)
  install(PROGRAMS src/tools/chol-tune-plot DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT chol)
  install(FILES src/tools/chol-info.1 src/tools/chol-tune.1 src/tools/chol-tune-plot.1
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT chol)
endif()

# The plug-in is installed next to libchol.so, which opens it by its soname: no link name, no header.
if(TARGET chol_cuda)
  install(TARGETS chol_cuda
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cuda NAMELINK_SKIP)
endif()

include(cmake/package.cmake)
