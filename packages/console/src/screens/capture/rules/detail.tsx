import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useSearchState } from '../../../data/go.tsx'
import type { Rule } from '../../../data/lists.ts'
import { useMay } from '../../../data/place.ts'
import { CopyMeta } from '../../../parts/detail.tsx'
import { ResourceDetail, useTab } from '../../../parts/resource-detail.tsx'
import type { ResourceSearch } from '../../../parts/resource-screen.tsx'
import { Switch } from '../../../parts/switch.tsx'
import { useCopy } from '../../../ui/copy.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { StateChip, whenText } from './columns.tsx'
import { GoesToTab } from './goes-to-tab.tsx'
import { RuleTab } from './rule-tab.tsx'

const TABS = [
  { id: 'rule', label: 'Rule', of: RuleTab },
  { id: 'goes-to', label: 'Goes to', of: GoesToTab },
] as const

/** One rule: its conditions and fields, the test with recent events, and the destinations of its records. */
export function RuleDetail({ row: rule, onClose }: { readonly row: Rule; readonly onClose: () => void }): ReactElement {
  const [, setSearch] = useSearchState<ResourceSearch>()
  const copy = useCopy()
  const toast = useToast()
  const may = useMay(routes.rules.update)
  const { of: Tab } = useTab(TABS)
  const { id, name, dataset, enabled, conditions, mappings } = rule
  const duplicate = useChange(['rules'], (client) =>
    client.rules.create({ name: `${name} (copy)`, dataset, enabled: false, conditions, mappings }),
  )
  const goDuplicate = (): void =>
    duplicate.mutate(undefined, {
      onSuccess: ({ rule: made }) => {
        toast({ text: 'Copied. The copy is off until you turn it on.' })
        setSearch({ sel: made.id, q: undefined, view: undefined })
      },
      onError: (error) => toast({ text: error.message, kind: 'fail' }),
    })
  return (
    <ResourceDetail
      label="Rule"
      name={name}
      path={`rules/${id}`}
      chip={<StateChip enabled={enabled} />}
      onClose={onClose}
      meta={
        <>
          <span className="max-w-[60ch] truncate">{whenText(rule)}</span>
          <CopyMeta text={id} label="Copy ID" />
        </>
      }
      copied={{ label: 'Copy ID', text: id, said: 'ID copied' }}
      actions={
        <Switch
          enabled={enabled}
          route={routes.rules.update}
          rooms={['rules']}
          set={(client, on) => client.rules.update({ id, enabled: on })}
          titles={{
            off: 'The rule stores no events until you turn it on again',
            on: 'The rule stores events from the next request',
          }}
          said={{ off: 'Turned off. The rule stores no events until you turn it on again.', on: 'Turned on.' }}
        />
      }
      items={({ calls, copied, link, remove }) => [
        ...calls,
        {
          label: 'Copy as JSON',
          go: () =>
            void copy(JSON.stringify({ name, dataset, enabled, conditions, mappings }, null, 2), 'Copied as JSON'),
        },
        copied,
        link,
        'line',
        { label: 'Duplicate', disabled: !may, go: goDuplicate },
        remove,
      ]}
      tabs={TABS}
      remove={{
        verb: 'Delete',
        restorable: true,
        text: `The rule writes no more events to ${dataset}. Postroad still stores events that match only this rule, but in no dataset, and does not deliver them. Records that the rule wrote to ${dataset} are not deleted.`,
        may,
        rooms: ['rules'],
        run: (client) => client.rules.remove({ id }),
      }}
    >
      <Tab rule={rule} />
    </ResourceDetail>
  )
}
