import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { InSettings } from '../../../parts/settings-page.tsx'
import { useAllAgents, type Agent } from './agents.ts'
import { COLUMNS, SLIM } from './columns.tsx'
import { ConnectDialog } from './connect-dialog.tsx'
import { AgentDetail } from './detail.tsx'

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'active', label: 'Active', has: ({ status }: Agent) => status === 'active' },
  { id: 'refused', label: 'Denied', has: ({ last_refusal: refusal }: Agent) => refusal !== null },
  { id: 'revoked', label: 'Revoked', has: ({ status }: Agent) => status === 'revoked' },
] as const

/** Connected agents: programs that act for a person, and how much each may do. */
export function Screen(): ReactElement {
  const asked = useAllAgents()
  return (
    <InSettings>
      <ResourceScreen
        title="Connected agents"
        one="agent"
        asked={asked}
        columns={COLUMNS}
        slim={SLIM}
        views={VIEWS}
        textOf={({ id, name, host, client_id: client, connected_by: by }) =>
          [id, name, host ?? '', client, by.name, by.email ?? ''].join(' ')
        }
        create={{ label: 'Connect an agent', route: routes.connectedAgents.list, dialog: ConnectDialog }}
        detail={AgentDetail}
        never={{
          title: 'No connected agents yet',
          text: 'Coding agents and other programs act for you within the access that you grant. You can change or revoke that access at any time.',
        }}
      />
    </InSettings>
  )
}
