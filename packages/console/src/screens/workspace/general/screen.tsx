import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useWorkspace } from '../../../data/lists.ts'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { SettingsPage } from '../../../parts/settings-page.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Loading, Refused, Stale } from '../../../ui/states.tsx'
import { ClosurePart } from './closure.tsx'
import { NamePart } from './name.tsx'
import { YourWorkspaces } from './your-workspaces.tsx'

/** The workspace itself: its name, the other workspaces of the person, and its end. */
export function Screen(): ReactElement {
  const asked = useWorkspace()
  const items = useCopyItemsOf()
  const { data: workspace, error } = asked
  return (
    <SettingsPage title="General" actions={<MoreMenu items={items({ route: routes.workspaces.get })} />}>
      {error !== null && workspace !== undefined && (
        <Stale since={asked.dataUpdatedAt} error={asked.error} again={asked.refetch} />
      )}
      {workspace === undefined ? (
        error === null ? (
          <Loading rows={4} height={72} />
        ) : (
          <Refused error={error} again={asked.refetch} />
        )
      ) : (
        <div
          role="group"
          aria-label="Workspace"
          tabIndex={0}
          className="min-h-0 flex-1 overflow-y-auto border-t border-line outline-offset-[-2px]"
        >
          <NamePart of={workspace} />
          <YourWorkspaces />
          <ClosurePart of={workspace} />
        </div>
      )}
    </SettingsPage>
  )
}
