# SPDX-License-Identifier: Apache-2.0
# Creates the build's signing key once. Later builds reuse it.
if(NOT EXISTS ${KEY} OR NOT EXISTS ${KEYRING})
  file(REMOVE ${KEY} ${KEYRING})
  execute_process(COMMAND ${TOOL} hub keygen ${KEY} --name "this build" --keyring ${KEYRING}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endif()
