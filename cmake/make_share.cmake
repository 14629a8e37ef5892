# cmake -DTK=tk -DOUT=DIR -DSOURCE=DIR [-DPACKAGED=ON -DPACKAGE=NAME -DVERSION=V -DDATE=D -DMAINTAINER=M] -P make_share.cmake
# Fills OUT with the manual pages and completions that the executable TK prints, and with the documents' front pages.
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT}/man1 ${OUT}/doc)

function(tk_print file)
  execute_process(COMMAND ${TK} ${ARGN} OUTPUT_FILE ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

execute_process(COMMAND ${TK} help --man OUTPUT_VARIABLE pages COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" pages "${pages}")
foreach(page IN LISTS pages)
  string(REPLACE " " ";" words "${page}")
  string(REPLACE " " "-" name "tk-${page}")
  if(page STREQUAL "tk")
    set(name tk)
  endif()
  tk_print(${OUT}/man1/${name}.1 help --man ${words})
endforeach()
tk_print(${OUT}/tk.bash completion bash)
tk_print(${OUT}/_tk completion zsh)
tk_print(${OUT}/tk.fish completion fish)

file(COPY ${SOURCE}/README.md DESTINATION ${OUT}/doc)
if(NOT PACKAGED)
  file(COPY ${SOURCE}/LICENSE ${SOURCE}/CHANGELOG.md DESTINATION ${OUT}/doc)
  return()
endif()

# Debian's ways: pages and changelogs compressed, LICENSE as `copyright`.
execute_process(COMMAND date -uRd "${DATE}" OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
file(COPY_FILE ${SOURCE}/CHANGELOG.md ${OUT}/doc/changelog)
file(WRITE ${OUT}/doc/changelog.Debian "${PACKAGE} (${VERSION}-1) unstable; urgency=medium

  * Version ${VERSION}; the changelog beside this one says what is new.

 -- ${MAINTAINER}  ${date}
")
file(GLOB pages ${OUT}/man1/*.1)
execute_process(COMMAND gzip -9n ${pages} ${OUT}/doc/changelog ${OUT}/doc/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)

file(READ ${SOURCE}/LICENSE license)
string(REGEX MATCH "Copyright [^\n]*" holder "${license}")
string(REGEX REPLACE "^.*Copyright [^\n]*\n\n" "" license "${license}")
string(REGEX REPLACE "\n$" "" license "${license}")
string(REPLACE "\n\n" "\n.\n" license "${license}")
string(REPLACE "\n" "\n " license "${license}")
string(REPLACE "Copyright (c)" "Copyright:" holder "${holder}")
file(WRITE ${OUT}/doc/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tk

Files: *
${holder}
License: MIT

License: MIT
 ${license}
")
# What is linked in bears licences of its own (Boost's asks for nothing in an executable).
foreach(library liblz4-dev libzstd-dev libsnappy-dev libdeflate-dev zlib1g-dev libxxhash-dev libfmt-dev
    nlohmann-json3-dev libcli11-dev libc6-dev)
  if(EXISTS /usr/share/doc/${library}/copyright)
    file(COPY_FILE /usr/share/doc/${library}/copyright ${OUT}/doc/copyright.${library})
  endif()
endforeach()
file(WRITE ${OUT}/lintian "# Static on purpose: it must run on the host of a broken broker, whatever that has.
${PACKAGE}: statically-linked-binary [usr/bin/tk]
# Made from the source by whoever uses it, not for Debian's archive: there is no bug to close.
${PACKAGE}: initial-upload-closes-no-bugs *
")
if(MAINTAINER MATCHES "@localhost\\.localdomain>$")
  file(APPEND ${OUT}/lintian "# Nor is there an address to write to, unless one was given (TK_MAINTAINER).
${PACKAGE}: bogus-mail-host *
${PACKAGE}: bogus-mail-host-in-debian-changelog *
")
endif()
