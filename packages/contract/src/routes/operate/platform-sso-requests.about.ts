import type { About } from '../../about.ts'
import type { platformSsoRequests } from './platform-sso-requests.ts'

export const about = {
  text: 'For operators: the SSO requests of all workspaces.',
  refusals: { decide: ['invalid_state'] },
} satisfies About<typeof platformSsoRequests>
