import type { About } from '../../about.ts'
import { AgentAccount, Challenge, Solution } from '../../agent-registration.ts'
import type { agentAccounts } from './agent-accounts.ts'

export const about = {
  text: 'Accounts that agents registered, which a person claims.',
  refusals: { claim: ['claim_over', 'workspace_limit_reached'] },
  schemas: { AgentAccount, AgentChallenge: Challenge, AgentSolution: Solution },
  bodies: { claim: { claim_token: 'hct_…' } },
  members: { AgentAccount: { name: 'Deploy bot', operator_contact: 'ops@example.com', claimed_at: null } },
} satisfies About<typeof agentAccounts>
