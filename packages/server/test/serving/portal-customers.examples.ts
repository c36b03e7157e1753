import { withBody, aPortalIn, aPortalCustomerIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('portalCustomers', {
  list: aPortalIn,
  create: (at) => withBody(aPortalIn(at), { customer_id: 'acme', name: 'Acme' }),
  get: aPortalCustomerIn,
  update: (at) => withBody(aPortalCustomerIn(at), { name: 'Acme Inc.' }),
  remove: aPortalCustomerIn,
})
