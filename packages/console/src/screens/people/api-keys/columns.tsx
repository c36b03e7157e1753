import type { ReactElement } from 'react'
import type { ApiKey } from '../../../data/lists.ts'
import { usePlace } from '../../../data/place.ts'
import { Ago } from '../../../ui/ago.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Glyph } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { Countdown } from '../../../ui/time.tsx'
import { statusOf } from './status.tsx'

const STATE: Column<ApiKey> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: (row) => {
    const { tone, word, text } = statusOf(row)
    return (
      <span title={text}>
        <Glyph tone={tone} label={word} />
      </span>
    )
  },
}
const NAME: Column<ApiKey> = {
  id: 'name',
  label: 'Key',
  width: 'minmax(120px,1.3fr)',
  plain: true,
  cell: ({ name, shown_prefix }) => <TwoLines top={name} below={<span className="mono">{shown_prefix}…</span>} />,
}

export const COLUMNS: readonly Column<ApiKey>[] = [
  STATE,
  NAME,
  { id: 'role', label: 'Role', width: '76px', cell: ({ role }) => <span className="text-ink-2">{role}</span> },
  {
    id: 'project',
    label: 'Access',
    width: 'minmax(80px,1fr)',
    cell: ({ project_id }) => <Reach projectId={project_id} />,
  },
  {
    id: 'from',
    label: 'From',
    width: '92px',
    cell: ({ ip_allowlist }) => (
      <span className="block truncate text-ink-3" title={ip_allowlist.join(', ')}>
        {ip_allowlist.length === 0 ? 'any address' : counted(ip_allowlist.length, 'address', 'addresses')}
      </span>
    ),
  },
  {
    id: 'creator',
    label: 'Creator',
    width: 'minmax(80px,0.8fr)',
    cell: ({ created_by }) => <span className="block truncate text-ink-2">{created_by.name}</span>,
  },
  {
    id: 'expires',
    label: 'Expires',
    width: '76px',
    align: 'right',
    cell: (row) => (
      <span className="text-ink-3">
        <Expiry of={row} />
      </span>
    ),
  },
  {
    id: 'used',
    label: 'Last used',
    width: '84px',
    align: 'right',
    cell: ({ last_used_at }) => (
      <span className="text-ink-3">{last_used_at === null ? 'never' : <Ago at={last_used_at} />}</span>
    ),
  },
]

export const SLIM: readonly Column<ApiKey>[] = [STATE, NAME]

/** The end of a key as a countdown, or the reason why there is none. */
export function Expiry({ of: { status, expires_at } }: { readonly of: ApiKey }): ReactElement {
  if (status !== 'active') return <>{status}</>
  return expires_at === null ? <>never</> : <Countdown to={expires_at} />
}

/** The part of the workspace that a key reaches. */
export function Reach({ projectId }: { readonly projectId: string | null }): ReactElement {
  const { projects } = usePlace()
  return (
    <span className="block truncate text-ink-2">
      {projectId === null
        ? 'the workspace'
        : (projects.find(({ id }) => id === projectId)?.name ?? 'a deleted project')}
    </span>
  )
}
