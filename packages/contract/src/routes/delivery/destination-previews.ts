import { z } from 'zod'
import { DestinationAuth } from '../../destination-auth.ts'
import { Headers, PayloadTemplate, Signing, Url } from '../../destination-settings.ts'
import { idInput } from '../../ids.ts'
import { defineRoute, READ } from '../../route.ts'

/** A room of its own: it needs records, which know of destinations already. */
export const destinationPreviews = {
  make: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'destinations/preview',
    summary: 'See what a destination would be sent',
    description:
      'The request that a destination of these settings, saved or not, would be sent for a record; secrets, what is made of them and the values of custom headers are dots. Nothing is sent or stored, so every ' +
      'role may, and a suspended workspace too.',
    ...READ,
    status: 200,
    body: z.strictObject({
      record_id: idInput('record'),
      destination_id: idInput('destination').optional().describe('Its settings stand for what is left out here.'),
      url: Url.optional().describe('Needed without destination_id.'),
      headers: Headers.optional(),
      signing: Signing.optional(),
      auth: DestinationAuth.optional().describe('Its secrets may be left out.'),
      payload_template: PayloadTemplate.optional(),
    }),
    output: z.object({
      request: z
        .object({
          method: z.literal('POST'),
          url: z.string(),
          headers: z.record(z.string(), z.string()),
          body: z.string(),
        })
        .nullable()
        .describe(
          'null: the payload template gives no body for this record, and an attempt would end with template_failed.',
        ),
      error: z.string().nullable().describe('Why there is none.'),
    }),
  }),
} as const
