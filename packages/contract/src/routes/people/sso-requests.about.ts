import type { About } from '../../about.ts'
import type { ssoRequests } from './sso-requests.ts'

export const about = {
  text: 'Requests for single sign-on, an organization or a Google Workspace, which operators decide.',
  refusals: { cancel: ['invalid_state'] },
} satisfies About<typeof ssoRequests>
