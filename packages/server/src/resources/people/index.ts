import { agentAccounts } from './agent-accounts/index.ts'
import { apiKeys } from './api-keys/index.ts'
import { connectedAgents } from './connected-agents/index.ts'
import { invites } from './invites/index.ts'
import { me } from './me/index.ts'
import { members } from './members/index.ts'
import { ssoRequests } from './sso-requests/index.ts'
import { sso } from './sso/index.ts'
import type { RoomsOf } from '../verbs.ts'

/** The rooms of this group that answer routes. A contract route without a verb does not compile. */
export const people: RoomsOf<'people'> = {
  agentAccounts,
  apiKeys,
  connectedAgents,
  invites,
  me,
  members,
  sso,
  ssoRequests,
}
