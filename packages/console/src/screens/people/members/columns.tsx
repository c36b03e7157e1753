import { Ago } from '../../../ui/ago.tsx'
import { Glyph } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { Countdown } from '../../../ui/time.tsx'
import type { Person } from './rows.ts'

const STATE: Column<Person> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: (row) =>
    row.kind === 'member' ? (
      <Glyph tone="ok" label="member" />
    ) : (
      <Glyph tone={row.status === 'pending' ? 'sending' : 'none'} label={`invite, ${row.status}`} />
    ),
}
const NAME: Column<Person> = {
  id: 'name',
  label: 'Person',
  width: 'minmax(160px,1.4fr)',
  plain: true,
  cell: (row) =>
    row.kind === 'member' ? (
      <TwoLines top={row.isYou ? `${row.name} (you)` : row.name} below={row.email ?? 'no email address'} />
    ) : (
      <TwoLines top={row.email} below={`invited by ${row.invited_by.name}`} />
    ),
}

export const COLUMNS: readonly Column<Person>[] = [
  STATE,
  NAME,
  { id: 'role', label: 'Role', width: '110px', cell: ({ role }) => <span className="text-ink-2">{role}</span> },
  {
    id: 'since',
    label: 'Status',
    width: 'minmax(130px,1fr)',
    cell: (row) => (
      <span className="block truncate text-ink-3">
        {row.kind === 'member' ? (
          <>
            joined <Ago at={row.joined_at} />
          </>
        ) : row.status === 'expired' ? (
          'the invite has expired'
        ) : (
          <>
            invited, expires <Countdown to={row.expires_at} />
          </>
        )}
      </span>
    ),
  },
]

export const SLIM: readonly Column<Person>[] = [STATE, NAME]
