// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/source.h"

#include "epilogue/base/result.h"

namespace epi::hub {

Result<std::string> Source::read(const std::string& path, int64_t max_bytes,
                                 const FetchProgress& progress) const {
  auto found = find(path, max_bytes, progress);
  EPI_TRY(found);
  if (!*found) return failure("{}/{}: not found", name(), path);
  return std::move(**found);
}

std::string path_of(const VariantName& name) {
  return fmt::format("{}/v{}/build/{}", name.package, name.version, name.variant);
}

}  // namespace epi::hub
