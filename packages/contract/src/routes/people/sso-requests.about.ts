import type { About } from '../../about.ts'
import type { ssoRequests } from './sso-requests.ts'

export const about = {
  text: 'Requests for single sign-on, an organization or a Google Workspace, which operators decide.',
  refusals: { cancel: ['invalid_state'] },
  bodies: {
    create: { domains: ['example.com'], note: 'We use Okta.' },
    requestOrganization: { domains: ['example.com', 'example.org'], note: 'One invoice for both teams.' },
    linkGoogleWorkspace: { domains: ['example.com'], note: null },
  },
} satisfies About<typeof ssoRequests>
