import type { ReactElement } from 'react'
import { toneOf, stateWord } from '../../../data/tone.ts'
import { LastAnswer, NextStep } from '../../../parts/held.tsx'
import { StartFields } from '../../../parts/payload-fields.tsx'
import type { Delivery, ListedDelivery } from '../../../data/tail.ts'
import { Glyph } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { Time } from '../../../ui/time.tsx'

/** `isSlim`: the list is beside an open delivery, which shows the rest. */
export function columnsOf(
  nameOf: (destinationId: string) => string,
  isSlim: boolean,
): readonly Column<ListedDelivery>[] {
  const first: readonly Column<ListedDelivery>[] = [
    {
      id: 'state',
      label: 'State',
      width: '18px',
      hidden: true,
      cell: (row) => <Glyph tone={toneOf(row)} label={stateWord(row)} />,
    },
    {
      id: 'time',
      label: 'Created',
      width: '90px',
      plain: true,
      cell: ({ created_at }) => <Time at={created_at} isDayShown={false} />,
    },
    {
      id: 'destination',
      label: 'Destination',
      width: isSlim ? 'minmax(90px,.6fr)' : 'minmax(100px,11%)',
      cell: ({ destination_id, dataset }) => <TwoLines top={nameOf(destination_id)} below={dataset} />,
    },
    {
      id: 'event',
      label: 'Event',
      width: isSlim ? 'minmax(140px,1fr)' : 'minmax(140px,18%)',
      cell: ({ record_id, dataset, event }) => (
        <TwoLines top={event.title ?? dataset} below={<span title={record_id}>…{record_id.slice(-8)}</span>} />
      ),
    },
  ]
  const last: Column<ListedDelivery> = {
    id: 'last',
    label: 'Last response',
    width: isSlim ? '96px' : 'minmax(76px,9%)',
    cell: (row) => <LastAnswer of={row} />,
  }
  if (isSlim) return [...first, last]
  return [
    ...first,
    {
      id: 'payload',
      label: 'Payload',
      width: 'minmax(0,1fr)',
      cell: ({ event }) => <StartFields start={event.payload_start} title={event.title ?? undefined} />,
    },
    last,
    {
      id: 'next',
      label: 'Next',
      width: '124px',
      cell: (row) => (row.state === 'delivered' || row.state === 'failed' ? null : <Next of={row} />),
    },
    {
      id: 'attempts',
      label: 'Attempts',
      width: '62px',
      align: 'right',
      cell: ({ attempt_count }) => <span className="mono text-meta text-ink-3">{attempt_count}</span>,
    },
  ]
}

const PAUSES = {
  workspace_suspended: 'workspace suspended',
  workspace_closed: 'workspace closed',
  destination_disabled: 'destination is off',
  allowance_used: 'allowance used up',
} as const

function Next({ of }: { readonly of: Delivery }): ReactElement {
  const { state, pause_reason, held_by } = of
  if (held_by === null && state === 'paused' && pause_reason !== null)
    return <span className="text-ink-3">{PAUSES[pause_reason]}</span>
  return <NextStep of={of} />
}
