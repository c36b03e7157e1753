import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllApiKeys, type ApiKey } from '../../../data/lists.ts'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { InSettings } from '../../../parts/settings-page.tsx'
import { COLUMNS, SLIM } from './columns.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { ApiKeyDetail } from './detail.tsx'
import { isUsable } from './status.tsx'

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'usable', label: 'Active', has: isUsable },
  { id: 'over', label: 'Inactive', has: (key: ApiKey) => !isUsable(key) },
] as const

/** API keys: the credentials of programs and agents that manage the workspace. */
export function Screen(): ReactElement {
  const asked = useAllApiKeys()
  const items = useCopyItemsOf()
  return (
    <InSettings>
      <ResourceScreen
        title="API keys"
        one="API key"
        asked={asked}
        columns={COLUMNS}
        slim={SLIM}
        views={VIEWS}
        textOf={({ id, name, shown_prefix, role, created_by }) =>
          [id, name, shown_prefix, role, created_by.name].join(' ')
        }
        create={{ label: 'New API key', route: routes.apiKeys.create, dialog: CreateDialog }}
        listItems={items({ route: routes.apiKeys.list })}
        detail={ApiKeyDetail}
        never={{
          title: 'No API keys yet',
          text: 'Programs, CI jobs and agents use API keys. A key acts as the person who created it, with the key’s role or that person’s current role, whichever is lower.',
        }}
      />
    </InSettings>
  )
}
