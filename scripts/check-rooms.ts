import { existsSync, globSync } from 'node:fs'
import { basename } from 'node:path'

/**
 * Every route file of the contract has a room of the same name in the server: one word per thing, and the folder is the URL
 * word. Every migration has a number of its own, so that their order is never a matter of names.
 */
const routeFiles = globSync('packages/contract/src/routes/*.ts')
  .map((file) => basename(file, '.ts'))
  .filter((name) => name !== 'index')
const missing = routeFiles.filter((name) => !existsSync(`packages/server/src/resources/${name}/index.ts`))

for (const name of missing) console.error(`The contract has routes/${name}.ts, but the server has no room resources/${name}/.`)

const numbers = globSync('packages/server/migrations/*.sql').map((file) => basename(file).slice(0, 4))
const twice = numbers.filter((number, index) => numbers.indexOf(number) !== index)
for (const number of twice) console.error(`Two migrations have the number ${number}; give the newer one the next free number.`)

process.exitCode = missing.length + twice.length === 0 ? 0 : 1
