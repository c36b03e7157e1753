import type { ReactElement } from 'react'
import type { Destination } from '../../../data/lists.ts'
import { Recent } from '../../../parts/recent.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Chip, Glyph, type Standing } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { isBad, millis, ratioText, useHealth } from './health.ts'

const STATE: Column<Destination> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: (row) => <Glyph standing={standingOf(row)} label={stateText(row)} />,
}
const NAME: Column<Destination> = {
  id: 'name',
  label: 'Destination',
  width: 'minmax(140px,1.6fr)',
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
    label: 'Proves itself by',
    width: 'minmax(100px,150px)',
    cell: ({ auth }) => <span className="text-ink-2">{AUTH_WORDS[auth.kind]}</span>,
  },
  RECENT,
  { id: 'health', label: '24 h', width: '104px', align: 'right', cell: ({ id }) => <HealthCell id={id} /> },
  { id: 'waiting', label: 'Waiting', width: '66px', align: 'right', cell: ({ id }) => <WaitingCell id={id} /> },
  {
    id: 'chip',
    label: 'Switched',
    width: '124px',
    align: 'right',
    cell: (row) =>
      row.enabled && row.breaker.state === 'closed' ? <span className="text-ink-3">on</span> : <StateChip of={row} />,
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
}

/** What succeeded, and how long nearly all of it took. */
function HealthCell({ id }: { readonly id: string }): ReactElement {
  const health = useHealth(id).data?.health
  if (health === undefined || health.success_ratio === null) return <span className="text-ink-3">–</span>
  return (
    <span className="flex flex-col">
      <span className={`mono text-data leading-4 ${isBad(health) ? 'text-fail' : 'text-ink-2'}`}>
        {ratioText(health)}
      </span>
      {health.response_ms !== null && (
        <span className="text-label leading-[14px] text-ink-3">p95 {millis(health.response_ms.p95)}</span>
      )}
    </span>
  )
}

function WaitingCell({ id }: { readonly id: string }): ReactElement {
  const backlog = useHealth(id).data?.health.backlog
  const waiting = backlog === undefined ? 0 : backlog.pending + backlog.retrying + backlog.paused
  return waiting === 0 ? (
    <span className="text-ink-3">–</span>
  ) : (
    <span className="mono text-data text-ink-2">{waiting.toLocaleString('en')}</span>
  )
}

type State = Pick<Destination, 'enabled' | 'disabled_reason' | 'breaker'>

function standingOf({ enabled, disabled_reason, breaker }: State): Standing {
  if (!enabled) return disabled_reason === 'gone' || disabled_reason === 'failing' ? 'fail' : 'paused'
  if (breaker.state === 'closed') return 'ok'
  return breaker.state === 'recovering' ? 'retry' : 'fail'
}

const OFF_WORDS = { by_hand: 'off', gone: 'off: gone (410)', failing: 'off: failing' } as const
const BREAKER_WORDS = { closed: 'on', open: 'breaker open', half_open: 'probing', recovering: 'recovering' } as const

function stateText({ enabled, disabled_reason, breaker }: State): string {
  return enabled ? BREAKER_WORDS[breaker.state] : OFF_WORDS[disabled_reason ?? 'by_hand']
}

export function StateChip({ of }: { readonly of: State }): ReactElement {
  return <Chip standing={standingOf(of)}>{stateText(of)}</Chip>
}

function Receives({ of: { datasets, conditions } }: { readonly of: Destination }): ReactElement {
  return (
    <span className="flex min-w-0 flex-col">
      <span className={`truncate leading-4 ${datasets === null ? 'text-ink-2' : 'mono text-data'}`}>
        {datasets?.join(', ') ?? 'every dataset'}
      </span>
      {conditions.length > 0 && (
        <span className="text-label leading-[14px] text-ink-3">{counted(conditions.length, 'condition')}</span>
      )}
    </span>
  )
}
