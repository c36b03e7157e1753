import { routes } from '@postroad/contract'
import { Ellipsis } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../data/ask.ts'
import { useSearchState } from '../../data/go.tsx'
import { useMay, usePlace } from '../../data/place.ts'
import { adminCurl } from '../../parts/commands.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyMeta, Detail } from '../../parts/detail.tsx'
import type { ResourceSearch } from '../../parts/resource-screen.tsx'
import { useKeys } from '../../shell/keys.ts'
import { Button } from '../../ui/button.tsx'
import { useCopy } from '../../ui/copy.tsx'
import { Menu } from '../../ui/menu.tsx'
import { needs } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { useToast } from '../../ui/toast.tsx'
import { StateChip, whenText } from './columns.tsx'
import type { Rule } from './draft.ts'
import { GoesToTab } from './goes-to-tab.tsx'
import { RuleTab } from './rule-tab.tsx'

const TABS = [
  { id: 'rule', label: 'Rule', of: RuleTab },
  { id: 'goes-to', label: 'Goes to', of: GoesToTab },
] as const

/** One rule: what it takes, what it makes of it, what that does to recent events, and who gets the result. */
export function RuleDetail({ row: rule, onClose }: { readonly row: Rule; readonly onClose: () => void }): ReactElement {
  const [search, setSearch] = useSearchState<ResourceSearch>()
  const [isRemoving, setRemoving] = useState(false)
  const { project } = usePlace()
  const copy = useCopy()
  const toast = useToast()
  const may = useMay(routes.rules.update)
  const remove = useChange(['rules'], async (client) => {
    await client.rules.remove({ id: rule.id })
    // Before the list is read anew: then this is not there any more.
    onClose()
  })
  const { name, dataset, enabled, conditions, mappings } = rule
  const duplicate = useChange(['rules'], (client) => client.rules.create({ name: `${name} (copy)`, dataset, enabled: false, conditions, mappings }))
  const goDuplicate = (): void =>
    duplicate.mutate(undefined, {
      onSuccess: ({ rule: made }) => {
        toast({ text: 'Made a copy. It is off until you switch it on.' })
        setSearch({ sel: made.id, q: undefined, view: undefined })
      },
      onError: (error) => toast({ text: error.message, kind: 'fail' }),
    })
  const curl = (): void => void copy(adminCurl({ project, path: `rules/${rule.id}` }), 'Copied as curl')
  const { id: tab, of: Tab } = TABS.find(({ id }) => id === search.tab) ?? TABS[0]
  const go = (to: string): void => setSearch({ tab: to === TABS[0].id ? undefined : to })
  useKeys({ c: curl, y: () => void copy(rule.id, 'Id copied'), ...Object.fromEntries(TABS.map(({ id }, index) => [String(index + 1), () => go(id)])) })
  return (
    <Detail
      label="Rule"
      title={name}
      chip={<StateChip enabled={enabled} />}
      onClose={onClose}
      meta={<><span className="max-w-[60ch] truncate">{whenText(rule)}</span><CopyMeta text={rule.id} label="Copy the id" /></>}
      actions={
        <>
          <Switch of={rule} />
          <Menu
            align="end"
            label="More"
            className="grid size-7 place-items-center rounded-button text-ink-3 hover:bg-hover hover:text-ink"
            items={[
              { label: 'Copy as curl', hint: 'c', go: curl },
              { label: 'Copy as JSON', go: () => void copy(JSON.stringify({ name, dataset, enabled, conditions, mappings }, null, 2), 'Copied as JSON') },
              { label: 'Copy the id', hint: 'y', go: () => void copy(rule.id, 'Id copied') },
              { label: 'Copy a link to it', go: () => void copy(location.href, 'Link copied') },
              'line',
              { label: 'Duplicate', disabled: !may, go: goDuplicate },
              { label: 'Delete…', danger: true, disabled: !may, go: () => setRemoving(true) },
            ]}
          >
            <Ellipsis className="size-4" strokeWidth={1.5} aria-hidden />
          </Menu>
        </>
      }
    >
      <Tabs label="Rule" tabs={TABS} at={tab} go={go}><Tab rule={rule} /></Tabs>
      {isRemoving && (
        <Confirm
          title={`Delete ${name}?`}
          text={`Nothing is filed by it any more. Events that only it matched are stored all the same, but in no dataset, so they are delivered nowhere. What it filed into ${dataset} stays.`}
          verb="Delete"
          isRunning={remove.isPending}
          error={remove.error}
          go={() => remove.mutate(undefined)}
          onClose={() => setRemoving(false)}
        />
      )}
    </Detail>
  )
}

function Switch({ of: { id, enabled } }: { readonly of: Rule }): ReactElement {
  const may = useMay(routes.rules.update)
  const toast = useToast()
  const change = useChange(['rules'], (client) => client.rules.update({ id, enabled: !enabled }))
  return (
    <Button
      disabled={!may || change.isPending}
      title={may ? (enabled ? 'It files nothing until it is on again' : 'It files from the next request on') : needs(routes.rules.update.role)}
      onClick={() => change.mutate(undefined, { onSuccess: () => toast({ text: enabled ? 'Switched off: it files nothing from now on.' : 'Switched on.' }), onError: (error) => toast({ text: error.message, kind: 'fail' }) })}
    >
      {enabled ? 'Switch off' : 'Switch on'}
    </Button>
  )
}
