import pg from 'pg'
import { LIMITS } from '@postroad/contract'
import { failureOf } from './failure.ts'
import { withPostgres } from './postgres-client.ts'
import type { Bound, DatabaseReader, KeysetRow, ReadDatabase, Reading } from './types.ts'

/** timestamp, timestamptz */
const TIMES: ReadonlySet<number> = new Set([1114, 1184])

/**
 * Reads PostgreSQL in one read-only transaction. PostgreSQL writes the JSON of each row, so numbers, times and nested values
 * arrive as it has them. Every statement has parameters, so the protocol accepts one statement only.
 */
export const readPostgres: ReadDatabase = async ({ reach, place, of, bytesMax, rowBytesMax, signal }, work) => {
  try {
    return await withPostgres({ reach, place, signal }, async (client) => {
      await client.query('begin transaction isolation level repeatable read read only')
      await client.query(SETTINGS)
      return await work(readerOf(client, { of, bytesMax, rowBytesMax }))
    })
  } catch (error) {
    throw failureOf(error)
  }
}

const SETTINGS = `
  select set_config('statement_timeout', '${LIMITS.sourceStatementMs}', true), set_config('timezone', 'UTC', true),
         set_config('datestyle', 'ISO, YMD', true), set_config('search_path', current_setting('search_path'), true)`

const name = (column: string): string => `q.${pg.escapeIdentifier(column)}`

function readerOf(client: pg.Client, { of, bytesMax, rowBytesMax }: Reading): DatabaseReader {
  const cursor = name(of.cursorColumn)
  const keys = of.keyColumn === null ? [cursor] : [cursor, name(of.keyColumn)]
  const texts = `${cursor}::text as cursor, ${of.keyColumn === null ? 'null' : `${name(of.keyColumn)}::text`} as key`
  const from = `from (\n${of.query}\n) q`
  const isTime = async (): Promise<boolean> => {
    const { fields } = await client.query({
      text: `select ${keys.join(', ')} ${from} where $1::int = 0 limit 0`,
      values: [1],
    })
    return TIMES.has(fields[0]?.dataTypeID ?? 0)
  }
  return {
    isTime,
    newest: async () => {
      const order = keys.map((key) => `${key} desc`).join(', ')
      const { rows } = await client.query<Bound>({
        text: `select ${texts} ${from} where ${cursor} is not null and $1::int = 1 order by ${order} limit 1`,
        values: [1],
      })
      return rows[0] ?? null
    },
    rows: async ({ after, upTo, lagSeconds, limit }) => {
      const values: unknown[] = []
      const param = (value: unknown): string => `$${values.push(value)}`
      const tuple = (bound: Bound): string =>
        `(${[bound.cursor, ...(of.keyColumn === null ? [] : [bound.key])].map(param).join(', ')})`
      const bounds = [
        `${cursor} is not null`,
        ...(after === null ? [] : [`(${keys.join(', ')}) > ${tuple(after)}`]),
        ...(upTo === null ? [] : [`(${keys.join(', ')}) <= ${tuple(upTo)}`]),
        ...(lagSeconds === 0 ? [] : [`${cursor} <= now() - ${param(lagSeconds)}::int * interval '1 second'`]),
      ]
      const page = `
        select row_to_json(q)::text as json, ${texts}, row_number() over (order by ${keys.join(', ')}) as n
        ${from}
         where ${bounds.join(' and ')}
         order by ${keys.join(', ')}
         limit ${param(limit)}::int`
      const sized = `select *, sum(octet_length(json)) over (order by n) as bytes, count(*) over () as found from (${page}) page`
      const { rows } = await client.query<KeysetRow & { readonly found: string }>({
        text: `
          select case when octet_length(json) <= ${param(rowBytesMax)}::int then json end as json, cursor, key, found
            from (${sized}) sized
           where bytes <= ${param(bytesMax)}::int or n = 1
           order by n`,
        values,
      })
      const found = Number(rows[0]?.found ?? 0)
      return { rows, more: found === limit || rows.length < found }
    },
  }
}
