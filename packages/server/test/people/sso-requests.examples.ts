import { aCancellation } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('ssoRequests', {
  list: () => ({}),
  create: () => ({ body: { domains: ['example.com'], note: 'An example' } }),
  requestOrganization: () => ({ body: { domains: ['example.com'] } }),
  linkGoogleWorkspace: () => ({ body: { domains: ['example.com'] } }),
  cancel: aCancellation,
})
