# What an installed user finds.
install(FILES include/chol.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
