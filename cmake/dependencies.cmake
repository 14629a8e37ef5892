# Every third party comes from the distribution's packages (docs/dependencies.md says which, and why).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)

# fmt's headers only: core/base/fmt_library.cpp makes the compiled part from them.
add_library(tk_fmt INTERFACE)
target_include_directories(tk_fmt SYSTEM INTERFACE
  $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)

# nlohmann_json: state files and configuration, never the data path.
add_library(tk_json INTERFACE)
target_link_libraries(tk_json INTERFACE nlohmann_json::nlohmann_json)

# Boost's headers: Asio for the loop of `tk serve`, Beast for the heads of HTTP requests. core/net/ only.
if(TK_SERVE)
  find_path(TK_BOOST_INCLUDE boost/asio.hpp REQUIRED)
  add_library(tk_boost INTERFACE)
  target_include_directories(tk_boost SYSTEM INTERFACE ${TK_BOOST_INCLUDE})
endif()

add_library(tk_cli11 INTERFACE)
target_link_libraries(tk_cli11 INTERFACE CLI11::CLI11)

# A static archive where there is one, so that the executable starts without a dynamic linker.
function(tk_find_library target name header)
  find_library(${target}_file NAMES lib${name}.a ${name} REQUIRED)
  find_path(${target}_include NAMES ${header} REQUIRED)
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE ${${target}_file})
  target_include_directories(${target} SYSTEM INTERFACE ${${target}_include})
endfunction()

tk_find_library(tk_zlib z zlib.h)
tk_find_library(tk_lz4 lz4 lz4.h)
tk_find_library(tk_zstd zstd zstd.h)
tk_find_library(tk_snappy snappy snappy.h)
tk_find_library(tk_deflate deflate libdeflate.h)
find_path(tk_xxhash_include NAMES xxhash.h REQUIRED)
add_library(tk_codecs INTERFACE)
target_link_libraries(tk_codecs INTERFACE tk_zlib tk_lz4 tk_zstd tk_snappy tk_deflate)
target_include_directories(tk_codecs SYSTEM INTERFACE ${tk_xxhash_include})
