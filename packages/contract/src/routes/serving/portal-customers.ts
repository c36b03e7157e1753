import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { Deleted, ListQuery, listOf, Timestamp } from '../../list.ts'
import { CustomerId, CustomerName } from '../../portal-settings.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

export const PortalCustomer = z.object({
  id: idOutput('customer'),
  portal_id: idOutput('portal'),
  customer_id: z.string().describe('Your ID for the customer. Events identify the customer by this ID.'),
  name: z.string().nullable(),
  destination_count: z.int(),
  token_count: z.int().describe('The tokens that have not expired.'),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const of = z.object({ id: idInput('portal') })
const at = z.object({ id: idInput('portal'), customer: idInput('customer') })
const one = z.object({ customer: PortalCustomer })

export const portalCustomers = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'portals/{id}/customers',
    summary: 'List the customers of a portal',
    description: 'The customers of a portal, newest first.',
    ...READ,
    status: 200,
    params: of,
    query: ListQuery.extend({
      customer_id: CustomerId.optional().describe('Only the customer with this ID.'),
    }),
    output: listOf('customers', PortalCustomer),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'portals/{id}/customers',
    summary: 'Add a customer to a portal',
    description:
      'Adds a customer with your own ID. Creating a token also adds the customer. A portal for `one_customer` that has another customer refuses it with 409 `portal_customer_mismatch`, which names that customer.',
    ...WRITE,
    status: 201,
    params: of,
    body: z.strictObject({ customer_id: CustomerId, name: CustomerName.default(null) }),
    output: one,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'portals/{id}/customers/{customer}',
    summary: 'Get a customer of a portal',
    description: 'One customer of a portal.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'portals/{id}/customers/{customer}',
    summary: 'Change a customer of a portal',
    description:
      'Updates only the fields that you send. With another customer_id, events that name the customer by the new id are delivered to their destinations.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({ customer_id: CustomerId.optional(), name: CustomerName.optional() }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'portals/{id}/customers/{customer}',
    summary: 'Delete a customer of a portal',
    description:
      'Deletes the customer with their tokens and destinations, and cancels the outstanding deliveries to these. Their sessions end at once.',
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted,
  }),
} as const
