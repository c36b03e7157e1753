import { z } from 'zod'
import { DestinationAuth } from '../../destination-auth.ts'
import { DeliveryBody, ForwardHeaders, Headers, PayloadTemplate, Signing, Url } from '../../destination-settings.ts'
import { DestinationConfig } from '../../destination-kinds.ts'
import { idInput } from '../../ids.ts'
import { defineRoute, READ } from '../../route.ts'
import { TransformOf } from '../../transform.ts'
import { BodyOfRequest, SEND_METHODS } from '../../sent-request.ts'

/** A separate room: it needs the records room, which already uses the destinations room. */
export const destinationPreviews = {
  make: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'destinations/preview',
    summary: 'Preview a request to a destination',
    description:
      'The request that a destination with these settings, saved or not, would receive for a record. Dots replace secrets, values made with them, and the values of custom headers. Nothing is sent or stored, so any role can call this, even in a suspended workspace.',
    ...READ,
    status: 200,
    body: z.strictObject({
      record_id: idInput('record'),
      destination_id: idInput('destination')
        .optional()
        .describe('The destination whose settings apply to members that are left out here.'),
      config: DestinationConfig.optional(),
      url: Url.optional().describe('Required without destination_id.'),
      headers: Headers.optional(),
      signing: Signing.optional(),
      auth: DestinationAuth.optional().describe('Its secrets may be left out.'),
      payload_template: PayloadTemplate.optional(),
      body: DeliveryBody.optional(),
      forward_headers: ForwardHeaders.optional(),
      transform_id: TransformOf.optional(),
    }),
    output: z.object({
      request: z
        .object({
          method: z.enum(SEND_METHODS),
          url: z.string(),
          headers: z.record(z.string(), z.string()),
          body: z.string().describe('The body, if it is text; empty if it is not.'),
          body_base64: z.string().nullable().describe('The body in base64, if it is not text.'),
          ...BodyOfRequest,
        })
        .nullable()
        .describe(
          'null: the payload template or the transform makes no request for this record. An attempt would end with template_failed or transform_failed, or without a request.',
        ),
      error: z.string().nullable().describe('The reason why there is no request; null: there is one.'),
    }),
  }),
} as const
