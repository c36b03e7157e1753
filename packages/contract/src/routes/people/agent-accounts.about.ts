import type { About } from '../../about.ts'
import { AgentAccount, Challenge, Solution } from '../../agent-registration.ts'
import type { agentAccounts } from './agent-accounts.ts'

export const about = {
  text: 'Accounts that agents registered, which a person claims.',
  refusals: { claim: ['claim_over', 'workspace_limit_reached'] },
  schemas: { AgentAccount, AgentChallenge: Challenge, AgentSolution: Solution },
} satisfies About<typeof agentAccounts>
