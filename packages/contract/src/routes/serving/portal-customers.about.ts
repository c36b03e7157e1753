import type { About } from '../../about.ts'
import { type portalCustomers, PortalCustomer } from './portal-customers.ts'

export const about = {
  text: 'The customers of a portal.',
  refusals: {
    create: ['customer_id_taken', 'customer_limit_reached', 'portal_customer_mismatch'],
    update: ['customer_id_taken'],
  },
  schemas: { PortalCustomer },
} satisfies About<typeof portalCustomers>
