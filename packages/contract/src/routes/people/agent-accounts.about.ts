import type { About } from '../../about.ts'
import type { agentAccounts } from './agent-accounts.ts'

export const about = {
  text: 'Accounts that agents registered, which a person claims.',
  refusals: { claim: ['claim_over', 'workspace_limit_reached'] },
} satisfies About<typeof agentAccounts>
