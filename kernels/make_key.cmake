# SPDX-License-Identifier: Apache-2.0
# The build's key, once: a later build signs with the same.
if(NOT EXISTS ${KEY} OR NOT EXISTS ${KEYRING})
  file(REMOVE ${KEY} ${KEYRING})
  execute_process(COMMAND ${TOOL} hub keygen ${KEY} --name "this build" --keyring ${KEYRING}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endif()
