import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { To } from '../../../data/go.tsx'
import { useAllRules, type Rule } from '../../../data/lists.ts'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { COLUMNS, SLIM, whenText } from './columns.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { RuleDetail } from './detail.tsx'

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'on', label: 'On', has: ({ enabled }: Rule) => enabled },
  { id: 'off', label: 'Off', has: ({ enabled }: Rule) => !enabled },
] as const

/** Rules: they decide about events of an ingest key that name no dataset. */
export function Screen(): ReactElement {
  const asked = useAllRules()
  return (
    <ResourceScreen
      title="Rules"
      one="rule"
      asked={asked}
      columns={COLUMNS}
      slim={SLIM}
      views={VIEWS}
      textOf={(rule) => [rule.id, rule.name, rule.dataset, whenText(rule)].join(' ')}
      create={{ label: 'New rule', route: routes.rules.create, dialog: CreateDialog }}
      path="rules"
      detail={RuleDetail}
      never={{
        title: 'No rules yet',
        text: (
          <>
            A rule stores matching events in a dataset, whole or with the fields that you choose. Rules apply only to
            events that arrive with an{' '}
            <To screen="ingest-keys" className="text-accent underline">
              ingest key
            </To>{' '}
            and no dataset. Endpoints have their own criteria and mappings.
          </>
        ),
      }}
    />
  )
}
