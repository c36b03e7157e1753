import { destinationLight } from '@postroad/contract/lights'
import type { ReactElement } from 'react'
import type { Destination } from '../../../data/lists.ts'
import { Recent } from '../../../parts/recent.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Chip, Light, NONE } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { took } from '../../../ui/time.tsx'
import { isBad, ratioText, useHealth } from './health.ts'

const STATE: Column<Destination> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: (row) => <Light of={destinationLight(row)} />,
}
const NAME: Column<Destination> = {
  id: 'name',
  label: 'Destination',
  width: 'minmax(140px,1.6fr)',
  plain: true,
  cell: ({ name, url }) => <TwoLines top={name} below={<span className="mono">{url}</span>} />,
}
const RECENT: Column<Destination> = {
  id: 'recent',
  label: 'Last 20',
  width: '122px',
  cell: ({ id }) => <Recent destinationId={id} />,
}

export const COLUMNS: readonly Column<Destination>[] = [
  STATE,
  NAME,
  { id: 'datasets', label: 'Receives', width: 'minmax(110px,1fr)', cell: (row) => <Receives of={row} /> },
  {
    id: 'auth',
    label: 'Authentication',
    width: 'minmax(84px,11%)',
    cell: ({ auth }) => <span className="text-ink-2">{AUTH_WORDS[auth.kind]}</span>,
  },
  RECENT,
  { id: 'health', label: '24 h', width: '104px', align: 'right', cell: ({ id }) => <HealthCell id={id} /> },
  { id: 'waiting', label: 'Waiting', width: '66px', align: 'right', cell: ({ id }) => <WaitingCell id={id} /> },
  {
    id: 'chip',
    label: 'Status',
    width: '124px',
    align: 'right',
    cell: (row) =>
      destinationLight(row).tone === 'ok' ? <span className="text-ink-3">on</span> : <StateChip of={row} />,
  },
]

export const SLIM: readonly Column<Destination>[] = [STATE, NAME]

export const AUTH_WORDS: Readonly<Record<Destination['auth']['kind'], string>> = {
  none: 'signature',
  basic: 'signature, password',
  bearer: 'signature, token',
  header: 'signature, header',
  oauth2_client_credentials: 'signature, OAuth 2',
  payload: 'signature, body key',
  aws: 'access key',
  google: 'service account',
}

/** A placeholder for a count that has not loaded yet. */
function Unread(): ReactElement {
  return <i aria-hidden className="inline-block h-2 w-8 rounded-chip bg-line" />
}

/** The share that succeeded, and the time that 95 % took. */
function HealthCell({ id }: { readonly id: string }): ReactElement {
  const health = useHealth(id).data?.health
  if (health === undefined) return <Unread />
  if (health.success_ratio === null) return NONE
  return (
    <span className="flex flex-col">
      <span className={`mono text-data leading-4 ${isBad(health) ? 'text-fail' : 'text-ink-2'}`}>
        {ratioText(health)}
      </span>
      {health.response_ms !== null && (
        <span className="text-label leading-[14px] text-ink-3">p95 {took(health.response_ms.p95)}</span>
      )}
    </span>
  )
}

function WaitingCell({ id }: { readonly id: string }): ReactElement {
  const backlog = useHealth(id).data?.health.backlog
  if (backlog === undefined) return <Unread />
  const waiting = backlog.pending + backlog.retrying + backlog.paused
  return (
    <span className={`mono text-data ${waiting === 0 ? 'text-ink-3' : 'text-ink-2'}`}>
      {waiting.toLocaleString('en')}
    </span>
  )
}

export function StateChip({ of }: { readonly of: Destination }): ReactElement {
  const { tone, word, text } = destinationLight(of)
  return (
    <span title={text}>
      <Chip tone={tone}>{word}</Chip>
    </span>
  )
}

function Receives({ of: { datasets, conditions } }: { readonly of: Destination }): ReactElement {
  return (
    <span className="flex min-w-0 flex-col">
      <span
        title={datasets?.join(', ')}
        className={`truncate leading-4 ${datasets === null ? 'text-ink-2' : 'mono text-data'}`}
      >
        {datasets?.join(', ') ?? 'all datasets'}
      </span>
      {conditions.length > 0 && (
        <span className="text-label leading-[14px] text-ink-3">{counted(conditions.length, 'condition')}</span>
      )}
    </span>
  )
}
