import type { ReactElement } from 'react'
import type { Rule } from '../../../data/lists.ts'
import { conditionText } from '../../../parts/condition-draft.ts'
import { counted } from '../../../parts/text-list.ts'
import { Chip, Glyph } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'

const STATE: Column<Rule> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: ({ enabled }) => <Glyph tone={enabled ? 'ok' : 'paused'} label={enabled ? 'on' : 'off'} />,
}
const IN_WORDS: Column<Rule> = {
  id: 'name',
  label: 'Rule',
  width: 'minmax(220px,2.4fr)',
  plain: true,
  cell: (rule) => <TwoLines top={rule.name} below={whenText(rule)} />,
}

export const COLUMNS: readonly Column<Rule>[] = [
  STATE,
  IN_WORDS,
  {
    id: 'dataset',
    label: 'Writes to',
    width: 'minmax(100px,1fr)',
    cell: ({ dataset }) => <span className="mono block truncate text-data text-ink-2">{dataset}</span>,
  },
  {
    id: 'mappings',
    label: 'As',
    width: 'minmax(100px,140px)',
    cell: ({ mappings }) => (
      <span className="text-ink-2">
        {mappings.length === 0 ? 'the whole payload' : counted(mappings.length, 'field')}
      </span>
    ),
  },
  {
    id: 'chip',
    label: 'Status',
    width: '76px',
    align: 'right',
    cell: ({ enabled }) => (enabled ? <span className="text-ink-3">on</span> : <StateChip enabled={false} />),
  },
]

export const SLIM: readonly Column<Rule>[] = [STATE, IN_WORDS]

/** The conditions of a rule as a sentence: `when total > 1000 and type is order.created`. */
export function whenText({ conditions }: Pick<Rule, 'conditions'>): string {
  return conditions.length === 0 ? 'every event' : `when ${conditions.map(conditionText).join(' and ')}`
}

export function StateChip({ enabled }: { readonly enabled: boolean }): ReactElement {
  return <Chip tone={enabled ? 'ok' : 'paused'}>{enabled ? 'on' : 'off'}</Chip>
}
