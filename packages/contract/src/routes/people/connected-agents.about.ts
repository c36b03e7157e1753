import type { About } from '../../about.ts'
import { type connectedAgents, ConnectedAgent } from './connected-agents.ts'
import { exampleId } from '../../openapi/example-id.ts'

export const about = {
  text: 'Programs that act for a member through OAuth, with the scope that the member granted.',
  refusals: { update: ['invalid_state'] },
  schemas: { ConnectedAgent },
  members: {
    ConnectedAgent: {
      name: 'Claude Code',
      host: 'claude.ai',
      redirect_host: 'localhost',
      client_id: 'https://claude.ai/oauth/claude-code-client-metadata',
      scope: 'service:write',
      connected_by: {
        id: exampleId('user'),
        name: 'Ada',
        email: 'ada@example.com',
        role: 'admin',
      },
      last_call: { at: '2026-11-21T09:30:00.000Z', route: 'deliveries.list' },
      last_refusal: {
        at: '2026-11-21T09:29:00.000Z',
        route: 'apiKeys.remove',
        reason: 'agent_scope_insufficient',
        required_scope: 'service:manage',
      },
      revoked_at: null,
      revoked_by: null,
    },
  },
} satisfies About<typeof connectedAgents>
