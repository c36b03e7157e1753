import { z } from 'zod'
import { AgentAccount } from '../../agent-registration.ts'
import { idOutput } from '../../ids.ts'
import { defineRoute, MANAGE } from '../../route.ts'

export const agentAccounts = {
  claim: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'agent-accounts/claim',
    summary: 'Claim the account of an agent',
    description:
      'Makes you the owner of the workspace that an agent registered, and switches your session to it. The agent becomes an admin, and its key still works. The claim token works once. You need no role in your current workspace.',
    ...MANAGE,
    role: 'viewer',
    callers: 'people',
    whileSuspended: 'allowed',
    withoutWorkspace: true,
    status: 200,
    body: z.strictObject({
      claim_token: z
        .string()
        .min(1)
        .max(100)
        .describe('The claim token (hct_…) that the agent got when it registered.'),
    }),
    output: z.object({
      account: AgentAccount,
      workspace: z.object({ id: idOutput('workspace'), slug: z.string(), name: z.string() }),
    }),
  }),
} as const
