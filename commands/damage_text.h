// Damage in words, the same in every command.
#pragma once

#include <string>

#include "core/base/error.h"
#include "core/format/fault.h"
#include "core/log/record_walk.h"

namespace tk {

/// "bad_crc: checksum mismatch (stored 0x1c8ad21f, computed 0x90be0c44)" and the like.
std::string fault_text(const Fault& fault);

/// The error that names a damaged range a reader met: file, byte range, the offsets concerned.
Error damage_error(const ReadDamage& damage);

}  // namespace tk
