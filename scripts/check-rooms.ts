import { existsSync, globSync } from 'node:fs'
import { basename } from 'node:path'

/** Every route file of the contract has a room of the same name in the server: one word per thing, and the folder is the URL word. */
const routeFiles = globSync('packages/contract/src/routes/*.ts')
  .map((file) => basename(file, '.ts'))
  .filter((name) => name !== 'index')
const missing = routeFiles.filter((name) => !existsSync(`packages/server/src/resources/${name}/index.ts`))

for (const name of missing) console.error(`The contract has routes/${name}.ts, but the server has no room resources/${name}/.`)
process.exitCode = missing.length === 0 ? 0 : 1
