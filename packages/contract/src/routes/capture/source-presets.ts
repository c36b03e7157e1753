import { z } from 'zod'
import { BodyAs, Split } from '../../body-reading.ts'
import { EndpointResponseSetting } from '../../endpoint-response.ts'
import { EventTitle } from '../../event-title.ts'
import { HandshakeSettings } from '../../handshake.ts'
import { Idempotency } from '../../idempotency.ts'
import { defineRoute, READ } from '../../route.ts'
import { VerificationSettings } from '../../verification.ts'

/** A well-known provider, with the settings of an endpoint for it. The files are in packages/verify/presets. */
export const SourcePreset = z.strictObject({
  id: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
  name: z.string().min(1),
  docs_url: z.url().describe('The page or the source file of the provider that these settings were read from.'),
  signature_header: z.string().min(1).describe('The header in which the signature or the token arrives.'),
  secret: z.string().min(1).describe('The name of the secret at the provider.'),
  setup: z.array(z.string().min(1)).min(1).max(4).describe('The steps at the provider, in their order.'),
  settings: z
    .strictObject({
      verification: VerificationSettings.refine(({ scheme }) => scheme !== 'none', 'A preset verifies.'),
      idempotency: Idempotency,
      event_title: EventTitle,
      handshake: HandshakeSettings,
      response: EndpointResponseSetting.default(null),
      body_as: BodyAs.default('contract'),
      split: Split.default(null),
    })
    .describe(
      'Members of an endpoint, as `POST webhooks` takes them. Add `secret` or `without_secret` to `verification`, and a `verify_token` ' +
        'to a `handshake` that needs one: hub_challenge, or a form with the proof token.',
    ),
  sample: z
    .object({ content_type: z.string(), body: z.string() })
    .nullable()
    .default(null)
    .describe('The body of an event, as the provider sends it. null: none is stored.'),
})
export type SourcePreset = z.infer<typeof SourcePreset>

export const sourcePresets = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'source-presets',
    summary: 'List source presets',
    description:
      'Providers, with the endpoint settings that verify their requests. The response contains all presets, sorted by name.',
    ...READ,
    forOneProjectKeys: true,
    status: 200,
    output: z.object({ source_presets: z.array(SourcePreset) }),
  }),
} as const
