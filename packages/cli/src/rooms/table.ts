import { readFileSync } from 'node:fs'
import type { RoomCommand } from '@postroad/contract/commands'

let table: readonly RoomCommand[] | undefined

/** The command of each route, made from the contract by `npm run docs`. It is read once, and needs no schemas. */
export function roomTable(): readonly RoomCommand[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `npm run check` compares the file with the contract
  table ??= JSON.parse(readFileSync(new URL('table.json', import.meta.url), 'utf8')) as readonly RoomCommand[]
  return table
}
