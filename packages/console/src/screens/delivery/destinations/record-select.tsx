import type { ConditionOp, RouteAnswer, RouteRequest, Routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { filterText } from '@postroad/contract/filter'
import { Select } from '../../../ui/field.tsx'
import { momentSecondText } from '../../../ui/moments.ts'

const SHOWN = 20

type Received = RouteAnswer<Routes['search']['events']>['records'][number]

/** A destination by the events that it receives; without an id it is not saved yet. */
export type Receiver = {
  readonly id?: string
  readonly datasets?: readonly string[] | null | undefined
  readonly conditions?: readonly Wanted[] | undefined
}
type Wanted = {
  readonly path: string
  readonly op?: ConditionOp | undefined
  readonly value?: unknown
  readonly equals?: unknown
}
type Query = Pick<RouteRequest<Routes['search']['events']>, 'destination' | 'dataset' | 'f'>

/** The newest records with a delivery to the destination; without any, the newest that match its settings. */
export function useReceivedRecords({ id, datasets, conditions = [] }: Receiver) {
  return useAsk(['destinations', 'received', id, datasets, conditions], async (client, signal) => {
    const received = id === undefined ? [] : await newestOf(client, { query: { destination: id }, signal })
    const f = filtersOf(conditions)
    if (received.length > 0 || f === undefined) return received
    const matching: Received[] = []
    for (const dataset of datasets?.slice(0, DATASETS_MAX) ?? [undefined]) {
      // oxlint-disable-next-line no-await-in-loop -- one search at a time: the server counts requests
      matching.push(...(await newestOf(client, { query: { dataset, f }, signal })))
    }
    return matching.toSorted((a, b) => (a.received_at < b.received_at ? 1 : -1)).slice(0, SHOWN)
  })
}

const DATASETS_MAX = 5
const PAGES_MAX = 5

/** The first results of a search; a page can be empty although more pages follow. */
async function newestOf(
  client: Client,
  { query, signal }: { readonly query: Query; readonly signal: AbortSignal },
): Promise<readonly Received[]> {
  let cursor: string | undefined
  for (let page = 0; page < PAGES_MAX; page += 1) {
    // oxlint-disable-next-line no-await-in-loop -- a page starts where the previous one ended
    const { records, next_cursor } = await client.search.events({ ...query, limit: SHOWN, cursor }, { signal })
    if (records.length > 0 || next_cursor === null) return records
    cursor = next_cursor
  }
  return []
}

/** Conditions as search filters; undefined if one has no such form, because commas separate the values of a list. */
function filtersOf(conditions: readonly Wanted[]): string[] | undefined {
  const isWritable = conditions.every(
    ({ value }) => !Array.isArray(value) || value.every((one) => !String(one).includes(',')),
  )
  if (!isWritable) return undefined
  return conditions.map(({ path, op = 'equals', value, equals }) =>
    filterText({ path, op, value: String(value === undefined ? equals : value) }),
  )
}

type Props = {
  readonly label: string
  readonly at: string
  readonly go: (id: string) => void
  readonly receiver: Receiver
  /** The choice that is not a record. */ readonly sample?: string
}

/** One of the newest records that the destination receives. */
export function RecordSelect({ label, at, go, receiver, sample }: Props): ReactElement {
  const records = useReceivedRecords(receiver).data ?? []
  return (
    <Select label={label} value={at} onChange={({ target }) => go(target.value)}>
      {sample !== undefined && <option value="">{sample}</option>}
      {records.map(({ id, dataset, received_at }) => (
        <option key={id} value={id}>{`${dataset}, ${momentSecondText(received_at)}, …${id.slice(-6)}`}</option>
      ))}
    </Select>
  )
}
