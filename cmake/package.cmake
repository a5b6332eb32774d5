# `cpack -G DEB`: the package chol, and chol-cuda with the plug-in where that is built.
set(CPACK_PACKAGE_NAME chol)
set(CPACK_PACKAGE_VENDOR "the chol authors")
set(CPACK_PACKAGE_CONTACT "the chol authors <chol@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL chol)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_CHOL_PACKAGE_NAME chol)
set(CPACK_DEBIAN_CHOL_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_CHOL_PACKAGE_SUGGESTS "python3-matplotlib") # chol-tune-plot
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# libchol_fortran and chol-info need libchol.so of the same package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)

if(TARGET chol_cuda)
  list(APPEND CPACK_COMPONENTS_ALL cuda)
  set(CPACK_DEBIAN_CUDA_PACKAGE_NAME chol-cuda)
  set(CPACK_DEBIAN_CUDA_DESCRIPTION "CUDA backend of chol, opened by libchol when a device is there")
  # The CUDA toolkit often comes from no Debian package, which dpkg-shlibdeps cannot resolve.
  set(CPACK_DEBIAN_CUDA_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "chol (= ${PROJECT_VERSION})")
endif()
include(CPack)
