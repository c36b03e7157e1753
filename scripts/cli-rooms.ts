import { readFileSync, writeFileSync } from 'node:fs'
import { roomCommands } from '@postroad/contract/commands'

/**
 * Writes the table from which the command line makes a command for each route, so that its help needs no schemas; with `--check` it
 * fails when the table is stale.
 */
const FILE = 'packages/cli/src/rooms/table.json'

const text = `[\n${roomCommands()
  .map((command) => JSON.stringify(command))
  .join(',\n')}\n]\n`

if (!process.argv.includes('--check')) writeFileSync(FILE, text)
else if (readFileSync(FILE, 'utf8') !== text) {
  console.error(`${FILE} is stale; run npm run docs.`)
  process.exitCode = 1
}
