// SPDX-License-Identifier: Apache-2.0
// The schema of one of a manifest's "exports".
#pragma once

#include "epilogue/hub/json_fields.h"
#include "epilogue/hub/manifest.h"

namespace epi::hub {

// Throws `SchemaError`.
Export read_export(const JsonField& field);

}  // namespace epi::hub
