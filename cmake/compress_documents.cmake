# SPDX-License-Identifier: Apache-2.0
# Run by CPack before it packs the installed files: compresses man pages and changelogs, adds a page for the
# link `epi`, and moves the completion of zsh, as Debian's policy asks.
file(GLOB files ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man1/*.1 ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/changelog)
foreach(file ${files})
  execute_process(COMMAND gzip -9n ${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB pages ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man1/epilogue.1.gz)
foreach(page ${pages})
  cmake_path(GET page PARENT_PATH folder)
  file(CREATE_LINK epilogue.1.gz ${folder}/epi.1.gz SYMBOLIC)
endforeach()
file(GLOB folders ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/zsh)
foreach(folder ${folders})
  file(RENAME ${folder}/site-functions ${folder}/vendor-completions)
endforeach()
