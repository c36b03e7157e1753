import type { ReactElement } from 'react'
import type { Origin } from '../../../data/source-lists.ts'
import { Ago } from '../../../ui/ago.tsx'
import { Chip, Light, NONE } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { Countdown } from '../../../ui/time.tsx'
import { eventsOf, kindLabel, kindOf, lastAt, nextAt, originLight, placeOf } from './origin.ts'

const STATE: Column<Origin> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: (origin) => <Light of={originLight(origin)} />,
}
const NAME: Column<Origin> = {
  id: 'name',
  label: 'Source',
  width: 'minmax(140px,1.6fr)',
  plain: true,
  cell: (origin) => <TwoLines top={origin.name} below={<span className="mono">{placeOf(origin)}</span>} />,
}

export const COLUMNS: readonly Column<Origin>[] = [
  STATE,
  NAME,
  {
    id: 'kind',
    label: 'Kind',
    width: 'minmax(90px,130px)',
    cell: (origin) => <span className="text-ink-2">{kindLabel(kindOf(origin))}</span>,
  },
  {
    id: 'dataset',
    label: 'Writes to',
    width: 'minmax(90px,1fr)',
    cell: ({ row }) => <span className="mono text-data text-ink-2">{row.dataset}</span>,
  },
  {
    id: 'events',
    label: 'Events',
    width: '72px',
    align: 'right',
    cell: (origin) => <span className="mono text-data text-ink-2">{eventsOf(origin).toLocaleString('en')}</span>,
  },
  { id: 'last', label: 'Last event', width: '96px', align: 'right', cell: (origin) => <Moment at={lastAt(origin)} /> },
  { id: 'next', label: 'Next run', width: '84px', align: 'right', cell: (origin) => <Next at={nextAt(origin)} /> },
  {
    id: 'error',
    label: 'Last error',
    width: 'minmax(150px,1.4fr)',
    cell: ({ row }) =>
      row.last_error === null ? (
        NONE
      ) : (
        <span
          title={row.last_error.error}
          className="line-clamp-2 text-data leading-4 break-words text-fail group-data-inline/cell:line-clamp-none"
        >
          {row.last_error.error}
        </span>
      ),
  },
  {
    id: 'chip',
    label: 'Status',
    width: '116px',
    align: 'right',
    cell: (origin) =>
      originLight(origin).tone === 'ok' ? (
        <span className="text-ink-3">{originLight(origin).word}</span>
      ) : (
        <StateChip of={origin} />
      ),
  },
]

export const SLIM: readonly Column<Origin>[] = [STATE, NAME]

export function StateChip({ of }: { readonly of: Origin }): ReactElement {
  const { tone, word, text } = originLight(of)
  return (
    <span title={text}>
      <Chip tone={tone}>{word}</Chip>
    </span>
  )
}

export function Moment({ at }: { readonly at: string | null }): ReactElement {
  return at === null ? (
    NONE
  ) : (
    <span className="text-data text-ink-2">
      <Ago at={at} />
    </span>
  )
}

export function Next({ at }: { readonly at: string | null }): ReactElement {
  return at === null ? (
    NONE
  ) : (
    <span className="text-data text-ink-2">
      <Countdown to={at} />
    </span>
  )
}
