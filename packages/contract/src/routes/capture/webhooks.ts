import { z } from 'zod'
import { Conditions } from '../../condition.ts'
import { Cors, IpAllowlist } from '../../gates.ts'
import { Handshake, HandshakeCreate, HandshakePatch, VerifyToken } from '../../handshake.ts'
import { CustomerPlace, CustomerPlaceSetting } from '../../customer-setting.ts'
import { DryRun, DryRunOn } from '../../dry-run.ts'
import { BodyAs, Split, SplitSetting } from '../../body-reading.ts'
import { EndpointResponse, EndpointResponseSetting } from '../../endpoint-response.ts'
import { EventTitle, EventTitleSetting } from '../../event-title.ts'
import { Idempotency, IdempotencySetting } from '../../idempotency.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { DeletedForNow, ListQuery, listOf, Name, Slug, Timestamp, WritableDatasetName } from '../../list.ts'
import { Mappings } from '../../mapping.ts'
import { RefusedSample } from '../../refused-sample.ts'
import { RejectionReason } from '../../rejection.ts'
import { EndOverlap, EndUrlOverlap, OverlapHours } from '../../rotation.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'
import { hasOneBody, Sample } from '../../sample-request.ts'
import { SignatureExplanation } from '../../signature-explanation.ts'
import {
  Verification,
  VerificationCreate,
  VerificationPatch,
  VerificationSecret,
  VerificationSettings,
} from '../../verification.ts'
import { VERIFICATION_SCHEMES } from '../../schemes.ts'

/** A version in a path. A value that is not a number gives the same response as a version that does not exist. */
const VersionNumber = z
  .string()
  .regex(/^[1-9]\d{0,8}$/)
  .transform(Number)

export const Webhook = z.object({
  id: idOutput('webhook'),
  name: z.string(),
  slug: z.string().describe('A readable and stable name: the last segment of /v1/webhooks/{ingest_key}/{slug}.'),
  dataset: z.string(),
  enabled: z.boolean(),
  criteria: Conditions,
  mappings: Mappings,
  verification: Verification,
  ip_allowlist: IpAllowlist,
  cors: Cors,
  handshake: Handshake,
  response: EndpointResponse,
  body_as: BodyAs,
  split: Split,
  idempotency: Idempotency,
  customer: CustomerPlace,
  event_title: EventTitle,
  refused_samples: z
    .boolean()
    .describe(
      'Whether Postroad stores one redacted sample for each cause of a refusal. false: it stores none, and deletes those that it stored.',
    ),
  webhook_slug: z.string().describe('The last segment of the public URL, which is its credential.'),
  public_path: z.string(),
  public_url: z.string(),
  previous_public_url: z.string().nullable(),
  previous_url_expires_at: Timestamp.nullable(),
  version: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

/** The content of a version: every setting that a change may set, without secrets and URLs. */
export const WebhookConfig = Webhook.pick({
  name: true,
  slug: true,
  dataset: true,
  enabled: true,
  criteria: true,
  mappings: true,
  ip_allowlist: true,
  cors: true,
  handshake: true,
  response: true,
  body_as: true,
  split: true,
  idempotency: true,
  customer: true,
  event_title: true,
  refused_samples: true,
}).extend({
  verification: VerificationSettings,
})
export type WebhookConfig = z.infer<typeof WebhookConfig>

export const Version = z.object({
  version: z.int().describe('The number of the version, counted from 1.'),
  changed: z.array(z.string()).describe('The members that differ from the previous version; all members in version 1.'),
  restored_from: z
    .int()
    .nullable()
    .describe('The version whose settings were restored; null: a change made this version.'),
  actor: z.string().describe('The actor: a user id, or "system".'),
  agent: z.string().nullable().describe('The agent, such as "api_key:key_…"; null: a person in the console.'),
  created_at: Timestamp,
})

const at = z.object({ id: idInput('webhook') })
const atVersion = at.extend({ version: VersionNumber })
const one = z.object({ webhook: Webhook })

export const webhooks = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'webhooks',
    summary: 'List endpoints',
    description: 'The endpoints (webhooks) of the project, newest first.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('webhooks', Webhook),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'webhooks',
    summary: 'Create an endpoint',
    description:
      'Creates an endpoint with its own URL. Without criteria it files every payload; without mappings it files the whole payload. ' +
      'Regular expressions run on a linear-time engine and are checked on save.',
    ...WRITE,
    status: 201,
    body: z.strictObject({
      name: Name,
      slug: Slug.optional().describe('Absent: generated from the name.'),
      dataset: WritableDatasetName.optional().describe('Absent: generated from the slug.'),
      enabled: z.boolean().default(true),
      criteria: Conditions.default([]),
      mappings: Mappings.default([]),
      verification: VerificationCreate.default({ scheme: 'none' }),
      ip_allowlist: IpAllowlist.default([]),
      cors: Cors.default(null),
      handshake: HandshakeCreate.default({ kind: 'none' }),
      response: EndpointResponseSetting.default(null),
      body_as: BodyAs.default('contract'),
      split: SplitSetting.default(null),
      idempotency: IdempotencySetting.default(null),
      customer: CustomerPlaceSetting.default(null),
      event_title: EventTitleSetting.default(null),
      refused_samples: z.boolean().default(true),
    }),
    output: one,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'webhooks/{id}',
    summary: 'Get an endpoint',
    description: 'One endpoint of the project. Verification secrets are never returned.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'webhooks/{id}',
    summary: 'Change an endpoint',
    description:
      'Updates only the fields that you send. In `verification` you may leave out the secret to retain the stored one (same scheme only); ' +
      'a secret set here replaces the old one at once. The change takes effect on every node within a second.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      slug: Slug.optional(),
      dataset: WritableDatasetName.optional(),
      enabled: z.boolean().optional(),
      criteria: Conditions.optional(),
      mappings: Mappings.optional(),
      verification: VerificationPatch.optional(),
      ip_allowlist: IpAllowlist.optional(),
      cors: Cors.optional(),
      handshake: HandshakePatch.optional(),
      response: EndpointResponseSetting.optional(),
      body_as: BodyAs.optional(),
      split: SplitSetting.optional(),
      idempotency: IdempotencySetting.optional(),
      customer: CustomerPlaceSetting.optional(),
      event_title: EventTitleSetting.optional(),
      refused_samples: z.boolean().optional(),
    }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'webhooks/{id}',
    summary: 'Delete an endpoint',
    description: 'Deletes the endpoint. Postroad then returns 404 for requests to its URL. Its events are not deleted.',
    ...WRITE,
    status: 200,
    params: at,
    output: DeletedForNow,
  }),
  test: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'webhooks/{id}/test',
    summary: 'Test the criteria and mappings of an endpoint',
    description:
      'Shows the records that the criteria and mappings of an endpoint, or others in their place, would make from payloads: from those sent here, from the newest ' +
      'ones that the endpoint received, or from both. The call does not store anything, so any role can use it, even in a suspended workspace. It reads at most 16 MiB of stored payloads.',
    ...READ,
    status: 200,
    params: at,
    body: z.strictObject({
      criteria: Conditions.optional().describe('Absent: the criteria of the endpoint.'),
      mappings: Mappings.optional().describe('Absent: the mappings of the endpoint.'),
      ...DryRunOn,
    }),
    output: DryRun,
  }),
  verifySample: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'webhooks/{id}/verify-sample',
    summary: 'Explain the signature of a request',
    description:
      'Shows step by step how the verification of the endpoint would check a request, and suggests causes of a failure: a body that was changed on the ' +
      'way, another encoding, a missing prefix. The response never contains the secret or the expected digest. The call does not store anything, so any role can use it, even in a suspended workspace.',
    ...READ,
    status: 200,
    params: at,
    body: Sample,
    output: SignatureExplanation,
  }),
  refusedSamples: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'webhooks/{id}/refused-samples',
    summary: 'List samples of rejected requests',
    description:
      'One redacted sample for each cause for which the endpoint refused a request, latest first: the headers and the first 4 KiB of the body. ' +
      'The sample of a request that had not proven its signature contains the names of the headers and the form of the signature, but no values. ' +
      `A sample appears within two seconds, is replaced at most once a minute and is deleted after ${LIMITS.refusedSampleDays} days. \`refused_samples\` of the endpoint turns samples off.`,
    ...READ,
    status: 200,
    params: at,
    query: z.object({ reason: RejectionReason.optional().describe('Only the sample for this reason.') }),
    output: z.object({ samples: z.array(RefusedSample) }),
  }),
  signSample: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'webhooks/{id}/sign-sample',
    summary: 'Sign a request for an endpoint',
    description:
      'Returns the headers that a sender with the verification secret of the endpoint would send with a body, so that you can send an event to an endpoint that verifies signatures. ' +
      'The response never contains the secret, and the audit log records each call. An endpoint that verifies nothing needs no headers. The call stores and sends nothing.',
    ...WRITE,
    status: 200,
    params: at,
    body: z
      .strictObject({
        body: z.string().optional().describe('The body that will be sent, if it is text.'),
        body_base64: z
          .base64()
          .optional()
          .describe('The body that will be sent, in base64. Do not combine it with body.'),
        query: z.string().optional().describe('The query string that will be sent. Some schemes sign it.'),
      })
      .refine(hasOneBody, 'send body or body_base64, not both'),
    output: z.object({
      scheme: z.enum(VERIFICATION_SCHEMES),
      headers: z.record(z.string(), z.string()).describe('Send these headers with exactly this body.'),
      expires_at: Timestamp.nullable().describe(
        'The time at which the timestamp becomes too old; null: there is no timestamp.',
      ),
    }),
  }),
  rotate: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'webhooks/{id}/rotate',
    summary: 'Give an endpoint a new URL',
    description:
      'Creates a new URL for the same endpoint: its id, dataset, settings and history stay. The previous URL continues to work for overlap_hours and then answers 404; ' +
      'with 0 it ends at once. An endpoint has at most one previous URL, so a second rotation within the overlap ends the older URL at once. ' +
      'Send `end_overlap: false` to get 409 `overlap_running` instead.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({ overlap_hours: OverlapHours, end_overlap: EndUrlOverlap }),
    output: Webhook.pick({
      id: true,
      webhook_slug: true,
      public_path: true,
      public_url: true,
      previous_public_url: true,
      previous_url_expires_at: true,
    }),
  }),
  rotateVerificationSecret: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'webhooks/{id}/rotate-verification-secret',
    summary: 'Replace the verification secret of an endpoint',
    description:
      'The new secret works immediately, and the previous one continues to work for overlap_hours (`previous_secret_expires_at`). An endpoint has at most one previous secret: ' +
      'a second rotation within the overlap is refused with 409 `overlap_running`, unless `end_overlap` is true. A secret set by a change of the endpoint ends the overlap at once. ' +
      'Refused with 400 when the scheme is none.',
    ...WRITE,
    status: 200,
    showsSecret: true,
    params: at,
    body: z.strictObject({
      secret: VerificationSecret.optional().describe('Absent: Postroad creates one in the form that fits the scheme.'),
      overlap_hours: OverlapHours,
      end_overlap: EndOverlap,
    }),
    output: one.extend({
      verification_secret: z
        .string()
        .optional()
        .describe('The created secret. It is shown only once, and absent when the request sent one.'),
    }),
  }),
  listVersions: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'webhooks/{id}/versions',
    summary: 'List the versions of an endpoint',
    description: `Every change of the settings creates a version. The newest ${LIMITS.webhookVersionsRetained} are stored and listed, newest first. A rotation changes no setting and creates no version.`,
    ...READ,
    status: 200,
    params: at,
    query: ListQuery,
    output: listOf('versions', Version),
  }),
  getVersion: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'webhooks/{id}/versions/{version}',
    summary: 'Get a version of an endpoint',
    description: 'One version with its settings. It contains no secret and no URL.',
    ...READ,
    status: 200,
    params: atVersion,
    output: z.object({ version: Version.extend({ config: WebhookConfig }) }),
  }),
  restoreVersion: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'webhooks/{id}/versions/{version}/restore',
    summary: 'Restore a version of an endpoint',
    description:
      'Restores the settings of a version, which creates a new version. The URL stays, and so do the secrets if the scheme and the kind of handshake are the same. ' +
      'Versions contain no secrets, so a version with another scheme needs its secret here, or `without_secret` to set it later.',
    ...WRITE,
    status: 200,
    params: atVersion,
    body: z.strictObject({
      secret: VerificationSecret.optional().describe(
        'The verification secret, if the version has another scheme than the endpoint now.',
      ),
      without_secret: z
        .literal(true, '"without_secret" is true or left out.')
        .optional()
        .describe(
          'Restore another scheme before its secret is known. Until it is set, Postroad answers every request with 401.',
        ),
      verify_token: VerifyToken.optional().describe(
        'The verify token of the handshake, if the version has another kind than the endpoint now.',
      ),
    }),
    output: one,
  }),
} as const
