import { z } from 'zod'
import { AUTH_KINDS } from '../../destination-auth.ts'
import { defineRoute, READ } from '../../route.ts'

/** The settings of a destination for a well-known receiver. The files are in packages/server/destination-presets. */
export const DestinationPreset = z.strictObject({
  id: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
  name: z.string().min(1),
  description: z.string().min(1).describe('What the receiver does with a delivery.'),
  setup: z.string().min(1).describe('Where to find the URL and the secret.'),
  docs_url: z.url().nullable(),
  url: z.string().min(1).describe('The form of its URL. The parts to fill in are in braces.'),
  secret: z.string().nullable().describe('The receiver’s name for the secret of auth; null: it needs none.'),
  settings: z
    .strictObject({
      auth: z.strictObject({ kind: z.enum(AUTH_KINDS), header: z.string().optional() }),
      headers: z.record(z.string(), z.string()),
      payload_template: z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]).nullable(),
    })
    .describe('Members for `POST destinations`. Add the secret of auth to them.'),
  alert_template: z
    .union([z.record(z.string(), z.unknown()), z.array(z.unknown())])
    .nullable()
    .describe('The payload template that fits alerts; null: the envelope.'),
})
export type DestinationPreset = z.infer<typeof DestinationPreset>

export const destinationPresets = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'destination-presets',
    summary: 'List destination presets',
    description:
      'The known receivers, each with the settings and the payload template that fit it. The list is not paged.',
    ...READ,
    forOneProjectKeys: true,
    status: 200,
    output: z.object({ destination_presets: z.array(DestinationPreset) }),
  }),
} as const
