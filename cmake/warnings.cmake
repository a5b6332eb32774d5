# Warnings of every target of the tree: link chol_build_flags to it. Targets for sanitizers also
# link chol_instrumentation.
add_library(chol_build_flags INTERFACE)
target_compile_options(chol_build_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Werror>)
add_library(chol_instrumentation INTERFACE)
# Tests are instrumented for ThreadSanitizer only, which must see their synchronization: the other
# sanitizers check the library, and compiling a test's templates with them takes minutes.
add_library(chol_test_instrumentation INTERFACE)
if(CHOL_SANITIZE)
  target_link_options(chol_build_flags INTERFACE -fsanitize=${CHOL_SANITIZE})
  # GCC 12 sees uninitialized variables in the standard library's std::regex once it is instrumented.
  target_compile_options(chol_instrumentation INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${CHOL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>
    $<$<COMPILE_LANGUAGE:C,CXX>:-Wno-maybe-uninitialized>)
  # A C caller can pass any number as an enum, and the check that refuses it has to read it.
  # AddressSanitizer reports the use of null and of freed objects as well, and the checks before each
  # access take a quarter of the compile time.
  if(CHOL_SANITIZE MATCHES "undefined")
    target_compile_options(chol_instrumentation INTERFACE
      $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize=enum,null,object-size,vptr>)
  endif()
  if(CHOL_SANITIZE MATCHES "thread")
    target_link_libraries(chol_test_instrumentation INTERFACE chol_instrumentation)
  endif()
endif()
