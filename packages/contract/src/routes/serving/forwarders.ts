import { z } from 'zod'
import { Headers, ShownHeaders } from '../../destination-settings.ts'
import { FORWARDER_PRESET_IDS, ForwarderPreset } from '../../forwarder-presets.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, ListQuery, listOf, Name, Text, Timestamp } from '../../list.ts'
import { OriginError } from '../../origin-error.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

export const FORWARDED_SIGNALS = ['logs', 'traces'] as const
export type ForwardedSignal = (typeof FORWARDED_SIGNALS)[number]
export const FORWARDED_CONTENT = [
  'submissions',
  'rejections',
  'attempts',
  'workflow_instances',
  'ai_runs',
  'audit',
] as const
export type ForwardedContent = (typeof FORWARDED_CONTENT)[number]

const { redactedNamesMax, redactedNameCharsMax } = LIMITS

const Endpoint = Text.min(1)
  .max(2_048)
  .describe(
    'The base URL of the receiver, https, or http to an address in OUTBOUND_ALLOW. Postroad appends /v1/logs and /v1/traces.',
  )
const Sent = Headers.describe(
  'Sent with every request. Values are stored encrypted and never shown. A change replaces all headers; null, or the placeholder of a response, retains the stored value of that name.',
)
const distinct = (items: readonly string[]): boolean => new Set(items).size === items.length
const Signals = z.array(z.enum(FORWARDED_SIGNALS)).min(1).refine(distinct, 'each signal may be named once')
const Content = z
  .array(z.enum(FORWARDED_CONTENT))
  .min(1)
  .refine(distinct, 'each kind may be named once')
  .describe(
    '`submissions`: accepted requests. `rejections`: rejected requests, counted by the minute. `attempts`: delivery attempts. `workflow_instances` and `ai_runs`: completed runs. ' +
      '`audit`: the audit log of the whole workspace, which requires the admin role.',
  )
const Names = z
  .array(Text.trim().min(1).max(redactedNameCharsMax))
  .max(redactedNamesMax, `at most ${redactedNamesMax} names`)

const REQUEST = {
  preset: z.enum(FORWARDER_PRESET_IDS),
  endpoint: Endpoint,
  headers: Sent,
  encoding: z.enum(['json', 'protobuf']),
  gzip: z.boolean(),
  signals: Signals,
}
const CONTENT = {
  content: Content,
  sample_rate: z
    .number()
    .min(0)
    .max(1)
    .describe(
      'The share of events that is sent. Sampling is by trace ID, so an event is sent completely or not at all. Rejections and audit rows are always sent.',
    ),
  always_errors: z.boolean().describe('Failed attempts, instances and runs are sent for every event.'),
  payloads: z
    .boolean()
    .describe(
      'Logs of accepted requests contain their headers and the start of their body. Values of credentials are never stored, so they are never sent.',
    ),
  redact_headers: Names.describe('Names of headers whose values are redacted.'),
  redact_fields: Names.describe(
    'Names of fields of the body and the query string whose values are redacted, at any depth. If set, bodies that are not JSON are omitted.',
  ),
  enabled: z.boolean().describe('A disabled forwarder continues from its position when it is enabled again.'),
}

export const ForwarderProgress = z
  .object({
    state: z
      .enum(['active', 'failing', 'stopped'])
      .describe('`failing`: the last attempt failed, and Postroad retries. `stopped`: see stopped_reason.'),
    sent_until: Timestamp.describe('The receiver has everything until this time, except what is counted as lost.'),
    lag_seconds: z.int().describe('The time since then.'),
    sent: z.int().describe('Accepted log records or spans.'),
    last_success_at: Timestamp.nullable(),
    last_error: OriginError.nullable().describe('The last error; null: the last attempt succeeded.'),
    failures: z.int().describe('The number of consecutive failed attempts.'),
    failing_since: Timestamp.nullable(),
    next_try_at: Timestamp.nullable(),
    expired: z.int().describe('Rows that expired before Postroad could send them.'),
    refused: z.int().describe('Log records or spans that the receiver refused permanently.'),
    refused_text: z.string().nullable().describe('The last reason that the receiver gave.'),
    lost_at: Timestamp.nullable().describe('The last time that one of these two counts increased.'),
  })
  .describe('How far one signal has been sent.')

export const Forwarder = z.object({
  id: idOutput('forwarder'),
  name: z.string(),
  ...REQUEST,
  headers: ShownHeaders,
  ...CONTENT,
  state: z
    .enum(['active', 'failing', 'stopped'])
    .describe('The worst state of its signals. `stopped`: disabled, or the workspace is suspended or closed.'),
  stopped_reason: z.enum(['disabled', 'workspace_suspended']).nullable(),
  progress: z
    .object({ logs: ForwarderProgress.nullable(), traces: ForwarderProgress.nullable() })
    .describe('Each signal that it sends; null: it does not send this one.'),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const at = z.object({ id: idInput('forwarder') })
const one = z.object({ forwarder: Forwarder })

export const forwarders = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'forwarders',
    summary: 'List forwarders',
    description: 'The forwarders of the project, newest first, with their state. Header values are never returned.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('forwarders', Forwarder),
  }),
  presets: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'forwarders/presets',
    summary: 'List forwarder presets',
    description: 'Well-known receivers, with the form of their endpoint and the headers that they need.',
    ...READ,
    status: 200,
    output: z.object({ forwarder_presets: z.array(ForwarderPreset) }),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'forwarders',
    summary: 'Create a forwarder',
    description:
      'Sends new logs and traces from the project to a receiver with OTLP/HTTP. Each signal has a position in the stored events, which advances when the receiver accepts a batch. A batch can arrive twice, but no batch is skipped. ' +
      'If the receiver is unavailable, Postroad retries with increasing delays of up to 15 minutes, for as long as the events are retained. It stops while the workspace is suspended and continues from its position.',
    ...WRITE,
    status: 201,
    body: z.strictObject({
      name: Name,
      preset: REQUEST.preset.default('generic'),
      endpoint: Endpoint,
      headers: Sent.default({}),
      encoding: REQUEST.encoding.default('protobuf'),
      gzip: REQUEST.gzip.default(true),
      signals: Signals.default([...FORWARDED_SIGNALS]),
      content: Content.default(FORWARDED_CONTENT.filter((kind) => kind !== 'audit')),
      sample_rate: CONTENT.sample_rate.default(1),
      always_errors: CONTENT.always_errors.default(true),
      payloads: CONTENT.payloads.default(false),
      redact_headers: CONTENT.redact_headers.default([]),
      redact_fields: CONTENT.redact_fields.default([]),
      enabled: CONTENT.enabled.default(true),
    }),
    output: one,
  }),
  test: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'forwarders/test',
    summary: 'Test the settings of a forwarder',
    description:
      'Sends one log record and one span that are labeled as a test, with saved or unsaved settings. A failure is reported in the response, not as an error status.',
    ...WRITE,
    status: 200,
    waitsForOthers: true,
    body: z.strictObject({
      forwarder_id: idInput('forwarder')
        .optional()
        .describe('A saved forwarder, whose settings apply where the request has none.'),
      preset: REQUEST.preset.optional(),
      endpoint: Endpoint.optional(),
      headers: Sent.optional(),
      encoding: REQUEST.encoding.optional(),
      gzip: REQUEST.gzip.optional(),
      signals: Signals.optional(),
    }),
    output: z.object({
      ok: z.boolean(),
      results: z.array(
        z.object({
          signal: z.enum(FORWARDED_SIGNALS),
          ok: z.boolean(),
          status: z.int().nullable().describe('The status of the response; null: there was none.'),
          error: OriginError.nullable(),
          duration_ms: z.int(),
        }),
      ),
    }),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'forwarders/{id}',
    summary: 'Get a forwarder',
    description: 'One forwarder of the project, with the state of each signal.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'forwarders/{id}',
    summary: 'Change a forwarder',
    description:
      'Updates only the fields that you send. The forwarder retains its position, and an added signal starts with new data. A new endpoint origin requires the header values again. A change also ends the delay after failures.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      preset: REQUEST.preset.optional(),
      endpoint: Endpoint.optional(),
      headers: Sent.optional(),
      encoding: REQUEST.encoding.optional(),
      gzip: REQUEST.gzip.optional(),
      signals: Signals.optional(),
      content: Content.optional(),
      sample_rate: CONTENT.sample_rate.optional(),
      always_errors: CONTENT.always_errors.optional(),
      payloads: CONTENT.payloads.optional(),
      redact_headers: CONTENT.redact_headers.optional(),
      redact_fields: CONTENT.redact_fields.optional(),
      enabled: CONTENT.enabled.optional(),
    }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'forwarders/{id}',
    summary: 'Delete a forwarder',
    description: 'Deletes the forwarder with its stored headers and positions.',
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted,
  }),
} as const
