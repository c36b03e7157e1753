import type { Client } from '@postroad/sdk'
import type { Tail } from '../../../data/tail.ts'
import { valueAt, type MatchesPattern } from '@postroad/contract/filter'
import type { ExportSource } from '../../../parts/export-dialog.tsx'
import { leafText } from '@postroad/contract/raw-number'
import { readPage, type Start } from './pages.ts'
import type { EventRow } from './rows.ts'
import type { Wanted } from './search.ts'

type Asked = Pick<ExportSource<EventRow>, 'name' | 'text' | 'pages'> & { readonly paths: readonly string[] }

/** Events as a file: one row each, with the fields that are columns, and the whole payload. */
export function exportOf({ paths, ...rest }: Asked): ExportSource<EventRow> {
  return {
    ...rest,
    columns: [
      { name: 'kind', of: ({ kind }) => kind },
      { name: 'id', of: ({ id }) => id },
      { name: 'received_at', of: ({ at }) => at },
      { name: 'dataset', of: (row) => (row.kind === 'record' ? row.record.dataset : null) },
      { name: 'reason', of: (row) => (row.kind === 'rejection' ? row.rejection.reason : null) },
      { name: 'count', of: (row) => (row.kind === 'rejection' ? String(row.rejection.count) : null) },
      ...paths.map((path) => ({
        name: path,
        of: (row: EventRow) => (row.kind === 'record' ? cellOf(valueAt(row.record.data, path)) : null),
      })),
      { name: 'data', of: (row) => (row.kind === 'record' ? JSON.stringify(row.record.data) : null) },
    ],
    json: (row) => {
      switch (row.kind) {
        case 'record':
          return { kind: row.kind, ...row.record }
        case 'unfiled':
          return { kind: row.kind, ...row.submission }
        case 'rejection':
          return { kind: row.kind, ...row.rejection }
        case 'gap':
          return { kind: row.kind, ...row.gap }
      }
    },
  }
}

function cellOf(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) || Array.isArray(value)
    ? JSON.stringify(value)
    : leafText(value)
}

type Reading = {
  readonly wanted: Wanted
  readonly tail: Tail
  readonly matches: MatchesPattern
  readonly signal: AbortSignal
}

/** Every page of the search, up to this moment. */
export async function* pagesOf(
  client: Client,
  { wanted, tail, matches, signal }: Reading,
): AsyncGenerator<{ readonly rows: readonly EventRow[]; readonly scanned: number }> {
  const until = { ...wanted, to: Math.min(wanted.to ?? Infinity, Date.now() + 1) }
  let start: Start | undefined = {}
  while (start !== undefined) {
    // oxlint-disable-next-line no-await-in-loop -- a page starts where the previous one ended
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(client, {
      wanted: until,
      start,
      tail,
      matches,
      signal,
      withDeliveries: false,
    })
    yield page
    start = page.next
  }
}
