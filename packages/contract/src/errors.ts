import { z } from 'zod'
import { SCOPES } from './route.ts'

export { REASONS, type Reason } from './reasons.ts'

/** The error body of every surface (contract part 2). Members other than `error` are present only where they apply. */
export const ErrorBody = z.object({
  error: z.string().describe('One sentence: what was wrong and what to do.'),
  reason: z.string().optional().describe('The machine-readable reason.'),
  code: z
    .enum(['agent_scope_insufficient', 'insufficient_role', 'agent_not_permitted', 'member_limit_reached'])
    .optional(),
  retry_after: z.int().optional().describe('Seconds to wait.'),
  upgrade_url: z
    .string()
    .optional()
    .describe(
      'The page where the plan can be changed. Present when the events or the deliveries of the month are used up, or the plan allows no more members.',
    ),
  max_members: z.int().optional().describe('With member_limit_reached: the number of members that the plan allows.'),
  members: z.int().optional().describe('With member_limit_reached: the number of members.'),
  pending_invites: z
    .int()
    .optional()
    .describe('With member_limit_reached: the number of pending invites, which count too.'),
  scheme: z.string().optional().describe('On a signature 401: the scheme of the endpoint.'),
  required_scope: z.enum(SCOPES).optional().describe('With agent_scope_insufficient: the scope that the call needs.'),
  granted_scopes: z
    .array(z.enum(SCOPES))
    .optional()
    .describe('With agent_scope_insufficient: the scopes that the agent was granted.'),
  manage_url: z
    .string()
    .optional()
    .describe('With agent_scope_insufficient: the page where the person can widen the grant.'),
  customer_id: z
    .string()
    .nullable()
    .optional()
    .describe('With portal_customer_mismatch: the customer that the portal serves.'),
  customer_name: z.string().nullable().optional().describe('With portal_customer_mismatch: the name of this customer.'),
  account_id: z
    .string()
    .optional()
    .describe('With a conflict of agent registration: the account that exists. Never with a credential.'),
  terms_version: z.string().optional().describe('With terms_not_accepted: the version to accept.'),
  claim_required: z
    .boolean()
    .optional()
    .describe('With agent_not_permitted: a person has to claim the account of the agent first.'),
  supported_versions: z.array(z.string()).optional(),
})
export type ErrorBody = z.infer<typeof ErrorBody>
