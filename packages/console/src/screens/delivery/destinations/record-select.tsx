import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { Select } from '../../../ui/field.tsx'

const SHOWN = 20
const CLOCK = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})

/** The newest records of the project, newest first. */
export function useNewestRecords() {
  return useAsk(['records', 'newest'], (client, signal) => client.records.list({ limit: SHOWN }, { signal }))
}

type Props = {
  readonly label: string
  readonly at: string
  readonly go: (id: string) => void
  /** The choice that is no record. */ readonly sample?: string
}

/** One of the newest records. */
export function RecordSelect({ label, at, go, sample }: Props): ReactElement {
  const records = useNewestRecords().data?.records ?? []
  return (
    <Select label={label} value={at} onChange={({ target }) => go(target.value)}>
      {sample !== undefined && <option value="">{sample}</option>}
      {records.map(({ id, dataset, received_at }) => (
        <option key={id} value={id}>{`${dataset}, ${CLOCK.format(new Date(received_at))}, …${id.slice(-6)}`}</option>
      ))}
    </Select>
  )
}
