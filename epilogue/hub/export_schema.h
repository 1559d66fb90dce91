// SPDX-License-Identifier: Apache-2.0
// The schema of an entry in a manifest's "exports".
#pragma once

#include "epilogue/hub/json_fields.h"
#include "epilogue/hub/manifest.h"

namespace epi::hub {

// Throws `SchemaError`.
Export read_export(const JsonField& field);

}  // namespace epi::hub
