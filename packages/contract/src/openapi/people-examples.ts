import type { BodyExamples } from './body-examples.ts'
import { EXAMPLE_TIME, exampleId } from './example-id.ts'

/** Examples of members, invites, keys, and accounts of agents. */
export const PEOPLE_BODIES = {
  ssoRequests: {
    create: { domains: ['example.com'], note: 'We use Okta.' },
    requestOrganization: { domains: ['example.com', 'example.org'], note: 'One invoice for both teams.' },
    linkGoogleWorkspace: { domains: ['example.com'], note: null },
  },
  apiKeys: { create: { name: 'CI', role: 'developer', expires_at: '2027-02-19T00:00:00Z' } },
  agentAccounts: { claim: { claim_token: 'hct_…' } },
  invites: { create: { email: 'ada@example.com', role: 'developer' }, accept: { token: 'the token of the link' } },
  members: {
    update: { role: 'admin' },
    leave: { workspace_id: exampleId('workspace') },
    transferOwnership: { user_id: exampleId('user') },
  },
} satisfies BodyExamples

export const PEOPLE_MEMBERS = {
  mail: {
    id: exampleId('mail'),
    to: 'ada@example.com',
    subject: 'Ada invites you to Acme',
    text: 'Open this link: https://hooks.example.com/invite/the-token',
    link: 'https://hooks.example.com/invite/the-token',
  },
  outbox: [
    {
      id: exampleId('mail'),
      to: 'ada@example.com',
      subject: 'Ada invites you to Acme',
      created_at: EXAMPLE_TIME,
      expires_at: '2026-11-28T09:41:12.000Z',
    },
  ],
  restored: { kind: 'rule', id: exampleId('rule'), name: 'Large orders' },
  'Deletion.resource_id': exampleId('rule'),
  'Deletion.name': 'Large orders',
  'Deletion.actor': exampleId('user'),
  'Deletion.agent': `api_key:${exampleId('apiKey')}`,
  'ConnectedAgent.name': 'Claude Code',
  'ConnectedAgent.host': 'claude.ai',
  'ConnectedAgent.redirect_host': 'localhost',
  'ConnectedAgent.client_id': 'https://claude.ai/oauth/claude-code-client-metadata',
  'ConnectedAgent.scope': 'service:write',
  'ConnectedAgent.connected_by': {
    id: exampleId('user'),
    name: 'Ada',
    email: 'ada@example.com',
    role: 'admin',
  },
  'ConnectedAgent.last_call': { at: '2026-11-21T09:30:00.000Z', route: 'deliveries.list' },
  'ConnectedAgent.last_refusal': {
    at: '2026-11-21T09:29:00.000Z',
    route: 'apiKeys.remove',
    reason: 'agent_scope_insufficient',
    required_scope: 'service:manage',
  },
  'ConnectedAgent.revoked_at': null,
  'ConnectedAgent.revoked_by': null,
  manage_url: 'https://hooks.example.com/settings/agents',
  'AgentAccount.name': 'Deploy bot',
  'AgentAccount.operator_contact': 'ops@example.com',
  terms_version: '1',
  'AgentAccount.claimed_at': null,
}
