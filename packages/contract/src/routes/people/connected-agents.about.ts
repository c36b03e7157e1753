import type { About } from '../../about.ts'
import { type connectedAgents, ConnectedAgent } from './connected-agents.ts'

export const about = {
  text: 'Programs that act for a member through OAuth, with the scope that the member granted.',
  refusals: { update: ['invalid_state'] },
  schemas: { ConnectedAgent },
} satisfies About<typeof connectedAgents>
