// SPDX-License-Identifier: Apache-2.0
// The verbs of `epilogue hub`. Each returns its exit code, which is 1 if a package is not trusted.
#pragma once

#include <string>
#include <vector>

#include "epilogue/base/json_writer.h"
#include "epilogue/cli/run/hub_options.h"

namespace epi::cli {

struct HubVerbFlags {
  HubFlags hub;
  std::vector<std::string> packages;
  std::string device = "auto";
  std::string path;     // a recipe, a folder or a key
  std::string variant;  // build
  std::string files;
  std::string out;
  std::string commit;
  bool dirty = false;
  std::string expires;  // build, index
  std::string key;      // sign, index
  std::string list;     // revoke
  std::string name;     // keygen
  std::string keyring;
  bool json = false;
};

int hub_list(const HubVerbFlags& flags);
int hub_info(const HubVerbFlags& flags);
int hub_why(const HubVerbFlags& flags);
int hub_verify(const HubVerbFlags& flags);
int hub_get(const HubVerbFlags& flags);
int hub_lock(const HubVerbFlags& flags);
int hub_build(const HubVerbFlags& flags);
int hub_sign(const HubVerbFlags& flags);
int hub_index(const HubVerbFlags& flags);
int hub_keygen(const HubVerbFlags& flags);
int hub_revoke(const HubVerbFlags& flags);

// Writes a member with a list of strings into an open object.
void texts_json(JsonWriter& json, const char* key, const std::vector<std::string>& texts);
// Prints `start` and `text`, which is broken at spaces into lines of 80 columns. Further lines are
// aligned with the start of the text. Paths and URLs are not broken.
void print_wrapped(const std::string& start, const std::string& text);
// Prints `text`, or with --json an object with the list `values`.
void print_result(const HubVerbFlags& flags, const char* key,
                  const std::vector<std::string>& values, const std::string& text);
// Throws `Refused` if the index of the package's source is not trusted.
void throw_if_refused(const hub::PackageName& package, const hub::Located& located);
// Registers the backend of --device and returns the device.
Device device_of(const HubVerbFlags& flags);
// The single package given to a verb. Throws `Error` for none and for several.
hub::PackageName only_package(const HubVerbFlags& flags);

}  // namespace epi::cli
