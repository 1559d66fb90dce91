// SPDX-License-Identifier: Apache-2.0
// Prints the rows of Parquet files as JSON, one file per line, with hyparquet: a reader that shares no code with this
// project. Integers of 64 bits are texts. Usage: node read_parquet.mjs FOLDER_OF_NODE_MODULES FILE...
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [modules, ...files] = process.argv.slice(2)
const load = name => import(pathToFileURL(createRequire(resolve(modules) + '/').resolve(name)))
const { asyncBufferFromFile, parquetReadObjects } = await load('hyparquet')
const { compressors } = await load('hyparquet-compressors')
for (const name of files) {
  const file = await asyncBufferFromFile(name)
  const rows = await parquetReadObjects({ file, compressors })
  console.log(JSON.stringify(rows, (key, value) => typeof value === 'bigint' ? value.toString() : value))
}
