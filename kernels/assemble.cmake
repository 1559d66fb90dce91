# SPDX-License-Identifier: Apache-2.0
# Assembles and signs one variant. Records the current commit of the source tree.
set(commit)
execute_process(COMMAND git -C ${SOURCE} rev-parse HEAD OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE
                RESULT_VARIABLE failed ERROR_QUIET)
if(NOT failed)
  set(commit --commit ${head})
  execute_process(COMMAND git -C ${SOURCE} status --porcelain OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    list(APPEND commit --dirty)
  endif()
endif()
execute_process(COMMAND ${TOOL} hub build ${RECIPE} --variant ${VARIANT} --files ${FILES} --out ${OUT} ${commit}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${TOOL} hub sign ${FOLDER} --key ${KEY} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
