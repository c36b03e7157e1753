import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, ListQuery, listOf, Name, Slug, Timestamp } from '../../list.ts'
import {
  PORTAL_SERVES,
  PortalBranding,
  PortalBrandingSetting,
  PortalEnabled,
  PortalEventTypesSetting,
  PortalFrameOrigins,
  PortalServes,
} from '../../portal-settings.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

export const Portal = z.object({
  id: idOutput('portal'),
  name: z.string(),
  slug: z.string().describe('A readable and stable name, unique in the project.'),
  event_types: z
    .string()
    .describe(
      'JSON text: the names of the datasets that the portal exposes, or null. `datasets` has the same as a list.',
    ),
  branding: z.string().describe('JSON text: the looks of the portal. `looks` has the same as an object.'),
  enabled: z.int().describe('1: customers can use the portal. 0: it is turned off.'),
  datasets: z
    .array(z.string())
    .nullable()
    .describe('The datasets that the portal exposes; null: every dataset of the project.'),
  looks: PortalBranding,
  serves: z.enum(PORTAL_SERVES),
  frame_origins: z.array(z.string()).describe('The origins whose pages may embed the portal.'),
  url: z.string().describe('The page of the portal. A customer enters it with the url of a token.'),
  customer_count: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const at = z.object({ id: idInput('portal') })
const one = z.object({ portal: Portal })

export const portals = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'portals',
    summary: 'List customer portals',
    description: 'The customer portals of the project, newest first.',
    ...READ,
    status: 200,
    query: ListQuery.extend({ slug: Slug.optional().describe('Only the portal with this slug.') }),
    output: listOf('portals', Portal),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'portals',
    summary: 'Create a customer portal',
    description:
      'A page and an API where your customers manage their own destinations and see the deliveries to them. A customer enters with a token that you create for them. ' +
      'An endpoint with the setting `customer` names the customer of each event, and Postroad delivers the event to the destinations of that customer too.',
    ...WRITE,
    status: 201,
    body: z.strictObject({
      name: Name,
      slug: Slug.optional().describe('Absent: generated from the name.'),
      event_types: PortalEventTypesSetting.default(null),
      branding: PortalBrandingSetting.prefault({}),
      enabled: PortalEnabled.default(true),
      serves: PortalServes.default('one_customer'),
      frame_origins: PortalFrameOrigins.default([]),
    }),
    output: one,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'portals/{id}',
    summary: 'Get a customer portal',
    description: 'One customer portal of the project.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'portals/{id}',
    summary: 'Change a customer portal',
    description:
      'Updates only the fields that you send. Turning the portal off ends every session of its customers at once; their deliveries continue. ' +
      'A dataset that the portal no longer exposes is no longer delivered to the destinations of its customers. ' +
      'A portal with more than one customer cannot become one for `one_customer`: that is refused with 409.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      slug: Slug.optional(),
      event_types: PortalEventTypesSetting.optional(),
      branding: PortalBrandingSetting.optional(),
      enabled: PortalEnabled.optional(),
      serves: PortalServes.optional(),
      frame_origins: PortalFrameOrigins.optional(),
    }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'portals/{id}',
    summary: 'Delete a customer portal',
    description: `Deletes the portal with its customers, their tokens and their destinations, and cancels the outstanding deliveries to these. Refused with 409 while its customers have more than ${LIMITS.customerDestinationsDeletedMax} destinations: delete customers first.`,
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted,
  }),
} as const
