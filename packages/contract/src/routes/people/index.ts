import { agentAccounts } from './agent-accounts.ts'
import { apiKeys } from './api-keys.ts'
import { connectedAgents } from './connected-agents.ts'
import { invites } from './invites.ts'
import { me } from './me.ts'
import { members } from './members.ts'
import { ssoRequests } from './sso-requests.ts'
import { sso } from './sso.ts'

/** People and their access: members, invites, keys and the caller. */
export const people = { agentAccounts, apiKeys, connectedAgents, invites, me, members, sso, ssoRequests } as const
