import { z } from 'zod'
import { AUTH_KINDS } from '../../destination-auth.ts'
import { defineRoute, READ } from '../../route.ts'

/** A receiver that many send to: what a destination for it is made of. The files stand in packages/server/destination-presets. */
export const DestinationPreset = z.strictObject({
  id: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
  name: z.string().min(1),
  description: z.string().min(1).describe('What comes of a delivery there.'),
  setup: z.string().min(1).describe('Where the URL and the secret are found.'),
  docs_url: z.url().nullable(),
  url: z.string().min(1).describe('What its URL looks like; what is one’s own is in braces.'),
  secret: z.string().nullable().describe('What the secret of auth is called there; null: it needs none.'),
  settings: z
    .strictObject({
      auth: z.strictObject({ kind: z.enum(AUTH_KINDS), header: z.string().optional() }),
      headers: z.record(z.string(), z.string()),
      payload_template: z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]).nullable(),
    })
    .describe('Members of a destination, as `POST destinations` takes them; the secret of auth is added to them.'),
})
export type DestinationPreset = z.infer<typeof DestinationPreset>

export const destinationPresets = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'destination-presets',
    summary: 'List destination presets',
    description:
      'Receivers that are known here, with the settings and the payload template that fit them. All are given at once.',
    ...READ,
    forOneProjectKeys: true,
    status: 200,
    output: z.object({ destination_presets: z.array(DestinationPreset) }),
  }),
} as const
