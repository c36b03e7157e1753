import { z } from 'zod'
import { AlertRule, AlertRuleEntry, AlertTypeName, QuietHours } from '../../alert-settings.ts'
import { ALERT_CHANGES, ALERT_CHANNELS, ALERT_SUBJECTS } from '../../alert-types.ts'
import { MailAddress } from '../../destination-kinds.ts'
import { Url } from '../../destination-settings.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Instant, ListQuery, listOf, Name, Text, Timestamp } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

export const Alert = z.object({
  id: idOutput('alert'),
  type: z.string(),
  state: z.enum(['open', 'resolved']),
  severity: z.enum(['warning', 'critical']),
  subject: z
    .object({ kind: z.enum(ALERT_SUBJECTS), id: z.string(), name: z.string() })
    .describe('The part of the project that it is about.'),
  customer_id: z.string().nullable().describe('The customer who owns the destination; null: the project does.'),
  value: z.int().describe('The last value, in the unit of the type.'),
  peak: z.int().describe('The worst value while it was open.'),
  text: z.string().describe('One sentence: what is wrong.'),
  opened_at: Timestamp,
  updated_at: Timestamp,
  resolved_at: Timestamp.nullable(),
  muted: z
    .object({ until: Timestamp.nullable().describe('null: until it resolves.'), by: z.string() })
    .nullable()
    .describe('Someone acknowledged it: nothing is sent until then.'),
  held: z.boolean().describe('Quiet hours hold its next event back.'),
})
export type Alert = z.output<typeof Alert>

export const AlertEvent = z
  .object({
    event_id: idOutput('record').describe('The event in the dataset postroad, whose deliveries show where it went.'),
    change: z.enum(ALERT_CHANGES),
    at: Timestamp,
  })
  .describe('An event that the alert made.')

export const AlertTypeInfo = z.object({
  type: z.string(),
  meaning: z.string(),
  resolved_type: z.string().describe('The type of the event when the cause has ended.'),
  unit: z.string().nullable(),
  default_threshold: z.int().nullable(),
  default_critical: z.int().nullable(),
  max: z.int(),
})

const at = z.object({ id: idInput('alert') })
const one = z.object({ alert: Alert })
const settings = z.object({
  rules: z.array(AlertRule).describe('One for each type.'),
  quiet_hours: z.array(QuietHours),
})

export const alerts = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'alerts',
    summary: 'List alerts',
    description: 'The alerts of the project, newest first. One cause has one open alert, which resolves by itself.',
    ...READ,
    status: 200,
    query: ListQuery.extend({
      state: z.enum(['open', 'resolved']).optional(),
      type: AlertTypeName.optional(),
      subject: Text.max(100).optional().describe('The id of the part of the project, such as dst_….'),
    }),
    output: listOf('alerts', Alert).extend({ open: z.int().describe('How many alerts are open.') }),
  }),
  types: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'alerts/types',
    summary: 'List the types of alerts',
    description: 'What each type means, and its thresholds unless a rule of the project sets others.',
    ...READ,
    status: 200,
    output: z.object({ alert_types: z.array(AlertTypeInfo) }),
  }),
  settings: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'alerts/settings',
    summary: 'Get the alert settings',
    description: 'The rules of all types, and the quiet hours.',
    ...READ,
    status: 200,
    output: settings,
  }),
  updateSettings: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'alerts/settings',
    summary: 'Change the alert settings',
    description: 'Changes the rules that you send. `quiet_hours` replaces all quiet hours.',
    ...WRITE,
    status: 200,
    body: z.strictObject({
      rules: z.array(AlertRuleEntry).max(50).optional(),
      quiet_hours: z.array(QuietHours).max(LIMITS.quietHoursPerProjectMax).optional(),
    }),
    output: settings,
  }),
  createChannel: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'alerts/channels',
    summary: 'Add a channel for alerts',
    description:
      'Creates a destination that gets the events of Postroad, with the settings and the template of the preset. It is a destination like any other afterwards.',
    ...WRITE,
    status: 201,
    body: z.strictObject({
      channel: z.enum(ALERT_CHANNELS),
      name: Name.optional().describe('Absent: Alerts and the name of the channel.'),
      url: Url.optional().describe('Absent: that of the preset, if it has a whole one.'),
      secret: Text.min(1).max(4_096).optional().describe('The key or password that the preset names.'),
      email: z
        .strictObject({
          from: MailAddress,
          to: z.array(MailAddress).min(1).max(LIMITS.mailRecipientsMax),
          username: Text.max(200).optional(),
        })
        .optional()
        .describe('For the channel email. `url` is the mail server, such as smtp://mail.example.com:587.'),
    }),
    output: z.object({ destination: z.object({ id: idOutput('destination'), name: z.string() }) }),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'alerts/{id}',
    summary: 'Get an alert',
    description: 'One alert, with the events that it made, newest first.',
    ...READ,
    status: 200,
    params: at,
    output: z.object({ alert: Alert, events: z.array(AlertEvent) }),
  }),
  mute: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'alerts/{id}/mute',
    summary: 'Acknowledge or snooze an alert',
    description:
      'Sends nothing more about an open alert until it resolves, or until a time. If it is still open then, it is sent again.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({ until: Instant.optional().describe('Absent: until it resolves.') }),
    output: one,
  }),
  unmute: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'alerts/{id}/unmute',
    summary: 'Unmute an alert',
    description: 'Sends events about the alert again.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
} as const
