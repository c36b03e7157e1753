import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useMay } from '../../../data/place.ts'
import { Ago } from '../../../ui/ago.tsx'
import { CopyMeta } from '../../../parts/detail.tsx'
import { ResourceDetail, useTab } from '../../../parts/resource-detail.tsx'
import { AccessTab } from './access-tab.tsx'
import type { Agent } from './agents.ts'
import { originOf, StatusChip } from './columns.tsx'
import { SetUpTab } from './set-up-tab.tsx'

const TABS = [
  { id: 'access', label: 'Access', of: AccessTab },
  { id: 'set-up', label: 'Set up', of: SetUpTab },
] as const

/** One connected agent: its access, and how to connect another one. */
export function AgentDetail({
  row: agent,
  onClose,
}: {
  readonly row: Agent
  readonly onClose: () => void
}): ReactElement {
  const may = useMay(routes.connectedAgents.remove)
  const { of: Tab } = useTab(TABS)
  const { id, name, status, last_call: call } = agent
  return (
    <ResourceDetail
      label="Connected agent"
      name={name}
      chip={<StatusChip status={status} />}
      onClose={onClose}
      meta={
        <>
          <span className="text-ink-2">{originOf(agent)}</span>
          <CopyMeta text={id} label="Copy ID" />
          <span>
            {call === null ? (
              'never called'
            ) : (
              <>
                called <Ago at={call.at} />
              </>
            )}
          </span>
        </>
      }
      copied={{ label: 'Copy ID', text: id, said: 'ID copied' }}
      actions={null}
      items={({ copied, link, remove }) => [copied, link, 'line', remove]}
      tabs={TABS}
      remove={{
        verb: 'Revoke',
        text: 'The agent’s next request is refused, and its tokens stop working. The agent can return only if someone connects it again.',
        may: may && status === 'active',
        rooms: ['connectedAgents'],
        run: (client) => client.connectedAgents.remove({ id }),
      }}
    >
      <Tab agent={agent} />
    </ResourceDetail>
  )
}
