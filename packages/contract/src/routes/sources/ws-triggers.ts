import { z } from 'zod'
import { Conditions } from '../../condition.ts'
import { CustomerPath } from '../../customer-setting.ts'
import { Headers, ShownHeaders } from '../../destination-settings.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, ListQuery, listOf, Name, Text, Timestamp, WritableDatasetName } from '../../list.ts'
import { OriginError } from '../../origin-error.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

const Url = Text.min(1).max(2_048).describe('wss, or ws to an address in OUTBOUND_ALLOW.')
const Message = z.string().min(1).max(LIMITS.wsMessageCharsMax)
const Subscribe = z
  .array(Message)
  .max(LIMITS.wsMessagesMax)
  .describe(
    'Messages to send after each connection, in order. Stored encrypted and never shown. A change replaces them all.',
  )
const Heartbeat = z
  .strictObject({
    every_seconds: z.int().min(LIMITS.wsHeartbeatSecondsMin).max(LIMITS.wsHeartbeatSecondsMax),
    message: Message.nullable().default(null).describe('Null: a protocol ping.'),
  })
  .nullable()
  .describe('A message that Postroad sends at intervals to keep the connection open; null: none.')
const StaleSeconds = z
  .int()
  .min(LIMITS.wsStaleSecondsMin)
  .max(LIMITS.wsStaleSecondsMax)
  .describe('Postroad reconnects when nothing arrives for this long.')
const MaxPayload = z.int().min(1).max(LIMITS.wsPayloadBytesMax).describe('A larger message closes the connection.')

export const WsTrigger = z.object({
  id: idOutput('wsTrigger'),
  name: z.string(),
  url: z.string(),
  dataset: z.string(),
  conditions: Conditions,
  customer: CustomerPath,
  headers: ShownHeaders,
  subscribe_messages: z.int().describe('The number of messages that Postroad sends after each connection.'),
  heartbeat: Heartbeat,
  stale_seconds: z.int(),
  max_payload_bytes: z.int(),
  enabled: z.boolean(),
  state: z
    .enum(['disabled', 'waiting', 'connecting', 'connected'])
    .describe('`waiting`: waiting for the next connection attempt. `connecting`: a process is connecting.'),
  connected_at: Timestamp.nullable(),
  next_connect_at: Timestamp.nullable().describe('Null while it is connected or disabled.'),
  last_message_at: Timestamp.nullable(),
  received: z.int().describe('The number of messages that arrived.'),
  filed: z.int().describe('The number of messages that met the conditions and became events.'),
  dropped: z
    .int()
    .describe(
      'The number of lost messages. They arrived faster than Postroad could store them, or could not be stored.',
    ),
  failures: z.int().describe('The number of consecutive failed connections.'),
  last_error: OriginError.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const at = z.object({ id: idInput('wsTrigger') })
const one = z.object({ ws_trigger: WsTrigger })

export const wsTriggers = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'ws-triggers',
    summary: 'List WebSocket triggers',
    description: 'The WebSocket triggers of the project, newest first, with the state of their connections.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('ws_triggers', WsTrigger),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'ws-triggers',
    summary: 'Create a WebSocket trigger',
    description:
      'Listens to a WebSocket, and files each message that meets the conditions. One process is connected at a time. Postroad reconnects after delays of up to 5 minutes. ' +
      'WebSockets do not resend messages, so messages that were sent while no process was connected are lost. A text that is JSON is filed as it is, another text as a JSON string, and bytes as `{"base64"}`.',
    ...WRITE,
    status: 201,
    body: z.strictObject({
      name: Name,
      url: Url,
      dataset: WritableDatasetName,
      conditions: Conditions.default([]),
      customer: CustomerPath.default(null),
      headers: Headers.default({}),
      subscribe: Subscribe.default([]),
      heartbeat: Heartbeat.default({ every_seconds: 30, message: null }),
      stale_seconds: StaleSeconds.default(LIMITS.wsStaleSecondsDefault),
      max_payload_bytes: MaxPayload.default(LIMITS.wsPayloadBytesDefault),
      enabled: z.boolean().default(true),
    }),
    output: one,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'ws-triggers/{id}',
    summary: 'Get a WebSocket trigger',
    description: 'One WebSocket trigger of the project, with the state of its connection.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'ws-triggers/{id}',
    summary: 'Change a WebSocket trigger',
    description:
      'Changes the members that are sent, and reconnects immediately. Postroad sends stored values only to the origin that they were set for, so a new url origin requires the header values and `subscribe` again.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      url: Url.optional(),
      dataset: WritableDatasetName.optional(),
      conditions: Conditions.optional(),
      customer: CustomerPath.optional(),
      headers: Headers.optional(),
      subscribe: Subscribe.optional(),
      heartbeat: Heartbeat.optional(),
      stale_seconds: StaleSeconds.optional(),
      max_payload_bytes: MaxPayload.optional(),
      enabled: z.boolean().optional(),
    }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'ws-triggers/{id}',
    summary: 'Delete a WebSocket trigger',
    description: 'Deletes the trigger and closes its connection. Its events are not deleted.',
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted,
  }),
} as const
