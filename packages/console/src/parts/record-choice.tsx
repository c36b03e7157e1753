import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import type { ReactElement } from 'react'
import { useAsk } from '../data/ask.ts'
import { Select } from '../ui/field.tsx'
import { momentSecondText } from '../ui/moments.ts'

type Stored = RouteAnswer<Routes['search']['events']>['records'][number]

const SHOWN = 20
const PAGES_MAX = 5

/** The newest records of a dataset, or of the project when no dataset is named. */
export function useNewestRecords(dataset: string): readonly Stored[] | undefined {
  return useAsk(['records', 'newest', dataset], (client, signal) => newestOf(client, { dataset, signal }), {
    keep: true,
  }).data
}

/** A page of a search can be empty although more pages follow. */
async function newestOf(
  client: Client,
  { dataset, signal }: { readonly dataset: string; readonly signal: AbortSignal },
): Promise<readonly Stored[]> {
  let cursor: string | undefined
  for (let page = 0; page < PAGES_MAX; page += 1) {
    // oxlint-disable-next-line no-await-in-loop -- a page starts where the previous one ended
    const { records, next_cursor } = await client.search.events(
      { ...(dataset === '' ? {} : { dataset }), limit: SHOWN, cursor },
      { signal },
    )
    if (records.length > 0 || next_cursor === null) return records
    cursor = next_cursor
  }
  return []
}

type Props = {
  readonly label: string
  readonly dataset: string
  readonly at: string
  readonly go: (id: string) => void
  /** The choice of no record. */
  readonly none?: string
  readonly hint?: string
}

/** One of the newest records of a dataset. */
export function RecordChoice({ label, dataset, at, go, none, hint }: Props): ReactElement {
  const records = useNewestRecords(dataset) ?? []
  return (
    <Select label={label} value={at} onChange={({ target }) => go(target.value)} hint={hint}>
      {none !== undefined && <option value="">{none}</option>}
      {none === undefined && at === '' && <option value="">Choose one</option>}
      {at !== '' && !records.some(({ id }) => id === at) && <option value={at}>{at}</option>}
      {records.map(({ id, dataset: of, received_at }) => (
        <option key={id} value={id}>{`${of}, ${momentSecondText(received_at)}, …${id.slice(-6)}`}</option>
      ))}
    </Select>
  )
}
