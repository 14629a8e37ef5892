#include "core/net/options.h"

#include <arpa/inet.h>

namespace tk::net {

bool is_loopback(const std::string& host) {
  in_addr address{};
  if (::inet_pton(AF_INET, host.c_str(), &address) == 1) return (ntohl(address.s_addr) >> 24) == 127;
  return host == "::1";
}

}  // namespace tk::net
