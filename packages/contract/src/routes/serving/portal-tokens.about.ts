import type { About } from '../../about.ts'
import { type portalTokens, PortalToken } from './portal-tokens.ts'

export const about = {
  text: 'The tokens with which customers enter a portal.',
  refusals: { create: ['customer_limit_reached', 'portal_customer_mismatch', 'portal_token_limit_reached'] },
  schemas: { PortalToken },
} satisfies About<typeof portalTokens>
