import { z } from 'zod'
import { CustomerPlace, CustomerPlaceSetting } from '../../customer-setting.ts'
import { IpAllowlist } from '../../gates.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, ListQuery, listOf, Name, Timestamp, WritableDatasetName } from '../../list.ts'
import { EndOverlap, OverlapHours } from '../../rotation.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'
import { VerificationSecret } from '../../verification.ts'

export const INGEST_KEY_SCOPES = ['ingest', 'stream'] as const

const Scopes = z
  .array(z.enum(INGEST_KEY_SCOPES, 'A scope is ingest or stream.'), 'The scopes are a list such as ["ingest"].')
  .min(1, 'A key has at least one scope; to stop it for a while, set "enabled" to false.')
  .max(INGEST_KEY_SCOPES.length, 'There are two scopes, ingest and stream.')
  .describe('The permissions of the key: `ingest` sends events, `stream` reads them on /v1/stream.')

const Datasets = z
  .array(WritableDatasetName, 'The datasets are a list of names, or null for every dataset.')
  .min(1, 'Name at least one dataset, or send null for every dataset.')
  .max(
    LIMITS.ingestKeyDatasetsMax,
    `Name at most ${LIMITS.ingestKeyDatasetsMax} datasets, or send null for every dataset.`,
  )
  .nullable()
  .describe(
    'The datasets that it may write and stream; null: every dataset. An event that would be filed in any other dataset is refused as a whole with 403.',
  )

const RequireSignature = z
  .boolean()
  .describe(
    'Whether an event must have the header X-Service-Signature: `t=<unix>,v1=<hex>`, HMAC-SHA256 over `<t>.<body>` with the signing secret of the key.',
  )

const OfKey = CustomerPlaceSetting.describe(
  'The place of the customer_id of an event that is sent with this key, in a header or in the payload. Postroad also delivers the event to the destinations of this customer. ' +
    'An event for an endpoint, by POST /v1/webhooks/{key}/{slug}, names its customer as the endpoint says. null: no other event of this key names one.',
)

export const IngestKey = z.object({
  id: idOutput('ingestKey'),
  name: z.string(),
  shown_prefix: z.string().describe('The first 12 characters of the key.'),
  enabled: z.boolean(),
  scopes: z.array(z.enum(INGEST_KEY_SCOPES)),
  datasets: z.array(z.string()).nullable(),
  ip_allowlist: IpAllowlist,
  require_signature: z.boolean(),
  customer: CustomerPlace,
  previous_signing_secret_expires_at: Timestamp.nullable().describe(
    'The time at which the replaced signing secret stops working, after a rotation.',
  ),
  last_used_at: Timestamp.nullable().describe('Updated at most once a minute.'),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const at = z.object({ id: idInput('ingestKey') })
const one = z.object({ ingest_key: IngestKey })
const SigningSecret = z
  .string()
  .optional()
  .describe('The secret of X-Service-Signature. It is shown only once, and absent when no new one was created.')

export const ingestKeys = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'ingest-keys',
    summary: 'List ingest keys',
    description: 'The ingest keys of the project, newest first, without the keys themselves.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('ingest_keys', IngestKey),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'ingest-keys',
    summary: 'Create an ingest key',
    description:
      'The response contains the key once, in `key`, and its signing secret once, in `signing_secret`, if the key requires signatures. ' +
      'Use the key in POST /v1/ingest/{key}, /v1/ingest/{key}/{dataset} and /v1/webhooks/{key}/{slug}, and on /v1/stream.',
    ...WRITE,
    status: 201,
    showsSecret: true,
    body: z.strictObject({
      name: Name,
      enabled: z.boolean().default(true),
      scopes: Scopes.default(['ingest', 'stream']),
      datasets: Datasets.default(null),
      ip_allowlist: IpAllowlist.default([]),
      require_signature: RequireSignature.default(false),
      customer: OfKey.default(null),
    }),
    output: one.extend({ key: z.string(), signing_secret: SigningSecret }),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'ingest-keys/{id}',
    summary: 'Get an ingest key',
    description: 'One ingest key of the project, without the key itself.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'ingest-keys/{id}',
    summary: 'Change an ingest key',
    description:
      'Updates only the fields that you send. If you start to require signatures, Postroad creates a signing secret and returns it once; if you stop, Postroad deletes the secret. ' +
      'A change takes effect on every node within a second. Streams that the key may no longer read are closed.',
    ...WRITE,
    status: 200,
    showsSecret: true,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      enabled: z.boolean().optional(),
      scopes: Scopes.optional(),
      datasets: Datasets.optional(),
      ip_allowlist: IpAllowlist.optional(),
      require_signature: RequireSignature.optional(),
      customer: OfKey.optional(),
    }),
    output: one.extend({ signing_secret: SigningSecret }),
  }),
  rotateSigningSecret: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'ingest-keys/{id}/rotate-signing-secret',
    summary: 'Replace the signing secret of an ingest key',
    description:
      'The new secret works immediately, and the previous one continues to work for overlap_hours. A key has at most one previous secret: ' +
      'a second rotation within the overlap is refused with 409 `overlap_running`, unless `end_overlap` is true. ' +
      'Refused with 400 when the key does not require signatures.',
    ...WRITE,
    status: 200,
    showsSecret: true,
    params: at,
    body: z.strictObject({
      secret: VerificationSecret.min(
        LIMITS.signingSecretCharsMin,
        `A signing secret has at least ${LIMITS.signingSecretCharsMin} characters.`,
      )
        .optional()
        .describe('Absent: Postroad creates one.'),
      overlap_hours: OverlapHours,
      end_overlap: EndOverlap,
    }),
    output: one.extend({ signing_secret: SigningSecret }),
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'ingest-keys/{id}',
    summary: 'Revoke an ingest key',
    description: 'Postroad then returns 404 for requests with this key.',
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted,
  }),
} as const
