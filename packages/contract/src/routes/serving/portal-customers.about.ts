import type { About } from '../../about.ts'
import { type portalCustomers, PortalCustomer } from './portal-customers.ts'

export const about = {
  text: 'The customers of a portal.',
  refusals: {
    create: ['customer_id_taken', 'customer_limit_reached', 'portal_customer_mismatch'],
    update: ['customer_id_taken'],
  },
  schemas: { PortalCustomer },
  bodies: {
    create: { customer_id: 'acme-42', name: 'Acme Inc.' },
    update: { name: 'Acme Inc.' },
  },
  members: { PortalCustomer: { customer_id: 'acme-42', name: 'Acme Inc.' } },
} satisfies About<typeof portalCustomers>
