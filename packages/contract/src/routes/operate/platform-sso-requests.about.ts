import type { About } from '../../about.ts'
import type { platformSsoRequests } from './platform-sso-requests.ts'

export const about = {
  text: 'For operators: the SSO requests of all workspaces.',
  refusals: { decide: ['invalid_state'] },
  bodies: { decide: { status: 'approved', reason: 'Sign in with Okta from Monday on.' } },
} satisfies About<typeof platformSsoRequests>
