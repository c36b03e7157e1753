import type { RoomCommand } from '@postroad/contract/commands'
import type { Client } from '@postroad/sdk'
import { EXIT, Failure } from '../failure.ts'
import { invokedAs } from '../options.ts'
import { roomTable } from './table.ts'

type Argument = RoomCommand['args'][number]
type Item = Readonly<Record<string, unknown>>
type Lister = { readonly list: (query: object) => AsyncIterable<Item> }

/** Returns an id as it is, and finds an item by its slug or its name in the list of its room. */
export async function idNamed(client: Client, { prefix, lookup }: Argument, named: string): Promise<string> {
  if (lookup === undefined || prefix === undefined || named.startsWith(`${prefix}_`)) return named
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table names rooms of the contract with a list
  const room = (client as unknown as Readonly<Record<string, Lister>>)[lookup.room]
  const found: string[] = []
  for await (const item of room?.list({ limit: 200 }) ?? [])
    if (item[lookup.by] === named) found.push(String(item['id']))
  const [id, ...others] = found
  if (id !== undefined && others.length === 0) return id
  const words = wordOf(lookup.room)
  throw id === undefined
    ? new Failure(`There is no ${words.one} "${named}" here. See ${invokedAs()} ${words.room} list.`, EXIT.notFound)
    : new Failure(
        `${found.length} ${words.many} have the name "${named}". Use the id: ${found.join(', ')}.`,
        EXIT.usage,
      )
}

/** The id of an item of a room that commands name by a slug or a name. */
export function idIn(client: Client, room: string, named: string): Promise<string> {
  const argument = roomTable()
    .flatMap(({ args }) => args)
    .find(({ lookup }) => lookup?.room === room)
  return idNamed(client, argument ?? { name: 'id' }, named)
}

type Words = { readonly room: string; readonly one: string; readonly many: string }

/** Rooms whose name is not a plural. */
const MANY: Readonly<Record<string, string>> = {
  activity: 'requests',
  dataExport: 'data exports',
  platformAudit: 'audit rows',
}

/** The words for the things of a room: `ingest-keys`, `ingest key` and `ingest keys`. */
export function wordOf(room: string): Words {
  const words = roomTable().find((command) => command.room === room)?.words[0] ?? room
  const many = (MANY[room] ?? words)
    .replaceAll('-', ' ')
    .replaceAll(/\b(?:ai|api|sso)\b/g, (word) => word.toUpperCase())
    .replace(/^ws /, 'WebSocket ')
  return { room: words, one: many.replace(/ies$/, 'y').replace(/s$/, ''), many }
}
