import type { ReactElement } from 'react'
import { useSearchState } from '../../../data/go.tsx'
import { usePlace } from '../../../data/place.ts'
import type { Search } from '../../../data/search-text.ts'
import { InSettings, SettingsPage } from '../../../parts/settings-page.tsx'
import { Empty } from '../../../ui/states.tsx'
import { Views } from '../../../ui/page.tsx'
import { AuditArea } from './audit-area.tsx'
import { BroadcastsArea } from './broadcasts-area.tsx'
import { HealthArea } from './health-area.tsx'
import { PlatformSettingsArea } from './settings-area.tsx'
import { SsoArea } from './sso-area.tsx'
import { WorkspacesArea } from './workspaces-area.tsx'

export type OperatorSearch = Search & { readonly area?: string }

const AREAS = [
  { id: 'workspaces', label: 'Workspaces', of: WorkspacesArea },
  { id: 'announcements', label: 'Announcements', of: BroadcastsArea },
  { id: 'sso', label: 'SSO requests', of: SsoArea },
  { id: 'settings', label: 'Settings', of: PlatformSettingsArea },
  { id: 'health', label: 'Health', of: HealthArea },
  { id: 'log', label: 'Log', of: AuditArea },
] as const

/** The area of the people who run the installation. */
export function Screen(): ReactElement {
  const { me } = usePlace()
  const [{ area }, setSearch] = useSearchState<OperatorSearch>()
  const { id, of: Area } = AREAS.find((one) => one.id === area) ?? AREAS[0]
  if (!me.operator)
    return (
      <SettingsPage title="Operators">
        <Empty title="For installation operators only">
          An operator is a person whose verified email address is listed in the server setting OPERATORS. Ask the person
          who runs the server.
        </Empty>
      </SettingsPage>
    )
  const views = (
    <Views
      label="Area"
      of={AREAS}
      at={id}
      go={(next) =>
        setSearch({ area: next === AREAS[0].id ? undefined : next, q: undefined, view: undefined, sel: undefined })
      }
    />
  )
  return (
    <InSettings>
      <Area views={views} />
    </InSettings>
  )
}
