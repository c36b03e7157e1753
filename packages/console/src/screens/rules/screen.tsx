import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk } from '../../data/ask.ts'
import { To, useSearchState } from '../../data/go.tsx'
import { useMay, usePlace } from '../../data/place.ts'
import { adminCurl } from '../../parts/commands.ts'
import { every } from '../../parts/every.ts'
import { ResourceScreen, type ResourceSearch } from '../../parts/resource-screen.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty, needs } from '../../ui/states.tsx'
import { COLUMNS, SLIM, whenText } from './columns.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { RuleDetail } from './detail.tsx'
import type { Rule } from './draft.ts'

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'on', label: 'On', has: ({ enabled }: Rule) => enabled },
  { id: 'off', label: 'Off', has: ({ enabled }: Rule) => !enabled },
] as const

/** Rules: what becomes of events that come by an ingest key and name no dataset. */
export function Screen(): ReactElement {
  const [, setSearch] = useSearchState<ResourceSearch>()
  const { project } = usePlace()
  const may = useMay(routes.rules.create)
  const asked = useAsk(['rules', 'all'], (client, signal) => every(client.rules.list({ limit: 200 }, { signal })))
  const [isCreating, setCreating] = useState(false)
  const refused = may ? undefined : needs(routes.rules.create.role)
  return (
    <ResourceScreen
      title="Rules"
      one="rule"
      asked={asked}
      columns={COLUMNS}
      slim={SLIM}
      views={VIEWS}
      textOf={(rule) => [rule.id, rule.name, rule.dataset, whenText(rule)].join(' ')}
      create={{ label: 'New rule', open: setCreating, refused }}
      commands={[{ label: 'Copy the list as curl', text: adminCurl({ project, path: 'rules' }) }]}
      detail={RuleDetail}
      never={
        <Empty title="There is no rule yet" actions={<Button kind="primary" hotkey="N" disabled={!may} title={refused} onClick={() => setCreating(true)}>New rule</Button>}>
          A rule files the events that meet its conditions into a dataset, as they came or as the fields that you name. Rules are asked in one shape alone: an event that comes by an <To screen="ingest-keys" className="text-accent underline">ingest key</To> with no dataset in the address. Endpoints file by criteria and mappings of their own.
        </Empty>
      }
    >
      {isCreating && (
        <CreateDialog
          onClose={() => setCreating(false)}
          onMade={(sel) => {
            setCreating(false)
            setSearch({ sel, q: undefined, view: undefined })
          }}
        />
      )}
    </ResourceScreen>
  )
}
