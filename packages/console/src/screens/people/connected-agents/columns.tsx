import type { ReactElement } from 'react'
import { Ago } from '../../../ui/ago.tsx'
import { Chip, Glyph } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { labelOf, refusalText, type Agent } from './agents.ts'

const STATE: Column<Agent> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: ({ status }) => <Glyph tone={status === 'active' ? 'ok' : 'paused'} label={status} />,
}
const NAME: Column<Agent> = {
  id: 'name',
  label: 'Agent',
  width: 'minmax(150px,1.4fr)',
  plain: true,
  cell: (row) => <TwoLines top={row.name} below={originOf(row)} />,
}

export const COLUMNS: readonly Column<Agent>[] = [
  STATE,
  NAME,
  {
    id: 'access',
    label: 'Access',
    width: '120px',
    cell: ({ scope }) => <span className="text-ink-2">{labelOf(scope)}</span>,
  },
  {
    id: 'by',
    label: 'Connected by',
    width: 'minmax(110px,1fr)',
    cell: ({ yours, connected_by: { name, email } }) => (
      <span className="block truncate text-ink-2">{yours ? 'you' : (email ?? name)}</span>
    ),
  },
  {
    id: 'refusal',
    label: 'Last refusal',
    width: 'minmax(130px,1fr)',
    cell: ({ last_refusal: refusal }) =>
      refusal === null ? (
        <span className="text-ink-3">none</span>
      ) : (
        <TwoLines
          top={<span className="mono text-data font-normal">{refusal.route}</span>}
          below={
            <>
              {refusalText(refusal.reason)}, <Ago at={refusal.at} />
            </>
          }
        />
      ),
  },
  {
    id: 'call',
    label: 'Last call',
    width: '116px',
    align: 'right',
    cell: ({ last_call: call }) => <span className="text-ink-3">{call === null ? 'never' : <Ago at={call.at} />}</span>,
  },
  {
    id: 'chip',
    label: 'Status',
    width: '92px',
    align: 'right',
    cell: ({ status }) =>
      status === 'active' ? <span className="text-ink-3">active</span> : <StatusChip status={status} />,
  },
]

export const SLIM: readonly Column<Agent>[] = [STATE, NAME]

/** The publisher of the program, if it is proven, or else how it was connected. */
export function originOf({ host, redirect_host: redirect }: Agent): string {
  if (host !== null) return `published by ${host}`
  return redirect === null ? 'with a code on a device' : `returned to ${redirect}`
}

export function StatusChip({ status }: Pick<Agent, 'status'>): ReactElement {
  return <Chip tone={status === 'active' ? 'ok' : 'paused'}>{status}</Chip>
}
