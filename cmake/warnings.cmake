# Warnings and sanitizers of every target of the tree: link chol_build_flags to it.
add_library(chol_build_flags INTERFACE)
target_compile_options(chol_build_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Werror>)
if(CHOL_SANITIZE)
  target_compile_options(chol_build_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${CHOL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  # GCC 12 sees uninitialized variables in the standard library's std::regex once it is instrumented.
  target_compile_options(chol_build_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-Wno-maybe-uninitialized>)
  # A C caller can pass any number as an enum, and the check that refuses it has to read it.
  if(CHOL_SANITIZE MATCHES "undefined")
    target_compile_options(chol_build_flags INTERFACE
      $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize=enum>)
  endif()
  target_link_options(chol_build_flags INTERFACE -fsanitize=${CHOL_SANITIZE})
endif()
