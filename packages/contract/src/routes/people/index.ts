import { agentAccounts } from './agent-accounts.ts'
import { about as aboutAgentAccounts } from './agent-accounts.about.ts'
import { apiKeys } from './api-keys.ts'
import { about as aboutApiKeys } from './api-keys.about.ts'
import { connectedAgents } from './connected-agents.ts'
import { about as aboutConnectedAgents } from './connected-agents.about.ts'
import { invites } from './invites.ts'
import { about as aboutInvites } from './invites.about.ts'
import { me } from './me.ts'
import { about as aboutMe } from './me.about.ts'
import { members } from './members.ts'
import { about as aboutMembers } from './members.about.ts'
import { ssoRequests } from './sso-requests.ts'
import { about as aboutSsoRequests } from './sso-requests.about.ts'
import { sso } from './sso.ts'
import { about as aboutSso } from './sso.about.ts'
import type { AboutRooms } from '../../about.ts'

/** People and their access: members, invites, keys and the caller. */
export const people = { agentAccounts, apiKeys, connectedAgents, invites, me, members, sso, ssoRequests } as const

export const peopleAbout = {
  agentAccounts: aboutAgentAccounts,
  apiKeys: aboutApiKeys,
  connectedAgents: aboutConnectedAgents,
  invites: aboutInvites,
  me: aboutMe,
  members: aboutMembers,
  sso: aboutSso,
  ssoRequests: aboutSsoRequests,
} satisfies AboutRooms<typeof people>
