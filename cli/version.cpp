#include "cli/version.h"

namespace tk::cli {

std::string_view version_number() {
  return TK_VERSION;
}

std::string_view version_date() {
  return TK_DATE;
}

std::string_view version_text() {
  return "tk " TK_VERSION " (" TK_COMMIT ")\ncodecs: none gzip snappy lz4 zstd\n";
}

}  // namespace tk::cli
