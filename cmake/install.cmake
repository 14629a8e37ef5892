# What `cmake --install` puts where: the executable, manual pages, completions, documents. Manual pages and completions
# are printed by the executable itself, when it is installed: they cannot say anything else than --help does.
include(GNUInstallDirs)
set(TK_PACKAGE tk-log)  # Debian has a package called tk, of another program
set(TK_DOC_DIR ${CMAKE_INSTALL_DATADIR}/doc/${TK_PACKAGE})
# zsh looks into site-functions below /usr/local, into vendor-completions below /usr.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(TK_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
else()
  set(TK_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
option(TK_PACKAGED "install as a Debian package wants it: compressed pages, a Debian changelog and copyright" OFF)
# Whoever makes packages for others puts an address there that is read; the default is nobody's.
set(TK_MAINTAINER "tk authors <tk@localhost.localdomain>" CACHE STRING "who answers for the package: Name <address>")
# It goes as it is into a control file, a changelog and a command line.
if(NOT TK_MAINTAINER MATCHES "^[^<>\"$;@\\\n]+ <[^<>\"$;@\\ \n]+@[^<>\"$;@\\ \n]+>$")
  message(FATAL_ERROR "TK_MAINTAINER must be of the form 'Name <address>', not '${TK_MAINTAINER}'")
endif()

# Only the executable is installed: an install, or cpack, does not build the tests first.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
install(TARGETS tk)
set(TK_SHARE ${PROJECT_BINARY_DIR}/share)
install(CODE "
  execute_process(COMMAND \"${CMAKE_COMMAND}\" -DTK=$<TARGET_FILE:tk> \"-DOUT=${TK_SHARE}\" -DSOURCE=${PROJECT_SOURCE_DIR}
    -DPACKAGED=${TK_PACKAGED} -DPACKAGE=${TK_PACKAGE} -DVERSION=${PROJECT_VERSION} -DDATE=${TK_DATE}
    \"-DMAINTAINER=${TK_MAINTAINER}\"
    -P \"${PROJECT_SOURCE_DIR}/cmake/make_share.cmake\" COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${TK_SHARE}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${TK_SHARE}/tk.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tk)
install(FILES ${TK_SHARE}/_tk DESTINATION ${TK_ZSH_DIR})
install(FILES ${TK_SHARE}/tk.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY ${TK_SHARE}/doc/ DESTINATION ${TK_DOC_DIR})
install(DIRECTORY docs/ DESTINATION ${TK_DOC_DIR}/docs FILES_MATCHING
  PATTERN "*.md" PATTERN "*.svg" PATTERN "*.scenario" PATTERN "*.sh")

if(TK_PACKAGED)
  install(FILES ${TK_SHARE}/lintian DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME ${TK_PACKAGE})
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME ${TK_PACKAGE})
  set(CPACK_PACKAGE_VENDOR "tk authors")
  set(CPACK_PACKAGE_CONTACT "${TK_MAINTAINER}")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Kafka's log on your disk, as a Unix tool")
  set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION utils)
  set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
  set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "tk reads, writes, checks, repairs and simulates Kafka-style logs directly\nin a directory, without a broker: for broken or copied broker disks, for\ndurable logs in shell pipelines and tests, and to see why records survive.\nAny Kafka client can use such a directory through 'tk serve'.")
  set(CPACK_STRIP_FILES ON)
  # The executable is static: it depends on nothing.
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  include(CPack)
endif()
