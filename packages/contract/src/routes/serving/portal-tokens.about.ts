import type { About } from '../../about.ts'
import { type portalTokens, PortalToken } from './portal-tokens.ts'
import { exampleId } from '../../openapi/example-id.ts'

const CUSTOMER = { id: exampleId('customer'), customer_id: 'acme-42', name: 'Acme Inc.' }

export const about = {
  text: 'The tokens with which customers enter a portal.',
  refusals: { create: ['customer_limit_reached', 'portal_customer_mismatch', 'portal_token_limit_reached'] },
  schemas: { PortalToken },
  bodies: { create: { customer_id: 'acme-42', customer_name: 'Acme Inc.', expires_in: 3_600 } },
  members: { PortalToken: { customer: CUSTOMER, shown_prefix: 'hpt_1a2b3c4d', status: 'active' } },
} satisfies About<typeof portalTokens>
