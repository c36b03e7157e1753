import { after } from 'node:test'
import { inspect } from 'node:util'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import type { Log } from '../../src/platform/log.ts'
import { statement, Wire } from './fixtures.ts'
import { aSink, type Sink, type World } from './harness.ts'
import { onWorldStage } from './world-stage.ts'

/** Collects every text that the server shows, and finds the secrets in it. */
export const METRICS_TOKEN = 'metrics-token-nobody-may-see'

type Seen = { readonly where: string; readonly text: string }

export let world: World
export let database: Database
export let sink: Sink
export const seen: Seen[] = []
export const secrets = new Map<string, string>()

/** More than any format of the log prints: the fields, and the whole content of errors. */
const log: Log = {
  debug: (event, fields) => note(event, fields),
  info: (event, fields) => note(event, fields),
  warn: (event, fields) => note(event, fields),
  error: (event, fields) => note(event, fields),
}

export function note(event: string, fields: Readonly<Record<string, unknown>> = {}): void {
  seen.push({
    where: `log ${event}`,
    text: `${event} ${inspect(fields, { depth: 20, maxStringLength: null })} ${JSON.stringify(fields)}`,
  })
}

/** Errors must contain no secret; a 2xx shows the secrets that the contract allows. */
export function heard(
  where: string,
  answer: { readonly status: number; readonly text: string; readonly headers?: string },
): void {
  seen.push({ where: `${where}: ${answer.status}, headers`, text: answer.headers ?? '' })
  if (answer.status >= 400) seen.push({ where: `${where}: ${answer.status}`, text: answer.text })
}

export async function ask(
  method: string,
  url: string,
  { headers = {}, body }: { readonly headers?: Record<string, string>; readonly body?: string } = {},
): Promise<number> {
  const response = await fetch(url, { method, headers, redirect: 'manual', ...(body === undefined ? {} : { body }) })
  heard(`${method} ${url}`, {
    status: response.status,
    text: await response.text(),
    headers: JSON.stringify([...response.headers]),
  })
  return response.status
}

export async function onWire(text: string): Promise<void> {
  const wire = new Wire(world.baseUrl).send(text)
  const answer = await wire.answer()
  wire.destroy()
  heard(`wire ${text.slice(0, 300)}`, {
    status: answer?.status ?? 999,
    text: answer?.body ?? wire.rest,
    headers: answer?.head ?? '',
  })
}

export const lastPart = (url: string): string => url.split('/').at(-1) ?? ''
export const escaped = (text: string): string =>
  Array.from(text, (letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')

/** A path with its secret in every spelling. */
export function spellings(path: string, secret: string): readonly string[] {
  const spelled = [
    secret,
    escaped(secret),
    escaped(secret).toUpperCase(),
    secret.toUpperCase(),
    `${escaped(secret.slice(0, 4))}${secret.slice(4)}`,
  ]
  return spelled.flatMap((text) => {
    const whole = path.replace(secret, text)
    return [
      whole,
      `/${whole}`,
      whole.replaceAll('/', '//'),
      `${whole}/`,
      `${whole}/not-a-name`,
      `${whole}/%zz`,
      `${whole}%`,
      `${whole}?key=${text}&hub.verify_token=${text}`,
      `/x${whole}`,
      `${whole}/${'a'.repeat(120)}`,
    ]
  })
}

/** Does the work while a table is missing, so that everything that needs the table fails. */
export async function without(table: string, work: () => Promise<unknown>): Promise<void> {
  const project = decodeId('project', world.installed.project.id) ?? ''
  await statement(database, `alter table ${table} rename to ${table}_gone`)
  world.app.deps.configChanged(project)
  try {
    await work()
  } finally {
    await statement(database, `alter table ${table}_gone rename to ${table}`)
    world.app.deps.configChanged(project)
  }
}

export async function textsOfTheDatabase(): Promise<readonly Seen[]> {
  const columns = await database.many<{ table_name: string; column_name: string }>(sql`
    select c.table_name, c.column_name
      from information_schema.columns c
      join information_schema.tables t on t.table_name = c.table_name and t.table_schema = c.table_schema
     where c.table_schema = 'public'
       and t.table_type = 'BASE TABLE'
       and c.data_type in ('text', 'character varying', 'json', 'jsonb', 'ARRAY', 'bytea')
  `)
  const found: Seen[] = []
  for (const { table_name, column_name } of columns) {
    const query = `select coalesce(string_agg(case when pg_typeof("${column_name}")::text = 'bytea' then encode("${column_name}"::text::bytea, 'escape') else "${column_name}"::text end, chr(10)), '') as text from "${table_name}"`
    const { text } = await database.one<{ text: string }>({ strings: [query], values: [] })
    found.push({ where: `${table_name}.${column_name}`, text })
  }
  return found
}

/** Decodes the text as an attacker would. */
function plain(text: string): string {
  let once = text
  for (let times = 0; times < 4; times += 1)
    once = once.replaceAll(/%([2-7][0-9a-f])/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return once.toLowerCase()
}

export function leaks(texts: readonly Seen[]): readonly string[] {
  return texts.flatMap(({ where, text }) => {
    const clear = plain(text)
    return [...secrets]
      .filter(([, secret]) => clear.includes(secret.toLowerCase()))
      .map(([name]) => `${name} in ${where.slice(0, 200)}`)
  })
}

/** A file calls this once, before its tests. */
export function onSecretWatch(): void {
  onWorldStage(
    async (made) => {
      ;({ world, database } = made)
      sink = await aSink()
    },
    { log, loops: 'all', env: { METRICS_TOKEN, LOG_LEVEL: 'debug' } },
  )
  after(() => sink.stop())
}
