import { LIMITS, SYSTEM_DATASET, type AlertChannel, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { presets } from '../../delivery/destination-presets/index.ts'
import { createDestination } from '../../delivery/destinations/index.ts'

type Asked = RouteInput<Routes['alerts']['createChannel']>
type Input = RouteInput<Routes['destinations']['create']>

const NAMES: Readonly<Record<AlertChannel, string>> = {
  slack: 'Slack',
  discord: 'Discord',
  teams: 'Microsoft Teams',
  pagerduty: 'PagerDuty',
  opsgenie: 'Opsgenie',
  email: 'Email',
  webhook: 'Webhook',
}

/** An email shows the members of its body in this order. */
const EMAIL_TEMPLATE = {
  alert: '{{ data.title }}',
  what: '{{ data.text }}',
  since: '{{ data.alert.opened_at }}',
  more: '{{ data.link }}',
}

/** Creates the destination of a channel. */
export async function createChannel(ctx: Ctx, asked: Asked) {
  const { destination } = await createDestination(ctx, { id: ctx.uuid(), input: inputOf(asked) })
  return { destination: { id: destination.id, name: destination.name } }
}

function inputOf(asked: Asked): Input {
  const shared = {
    name: asked.name ?? `Alerts: ${NAMES[asked.channel]}`,
    enabled: true,
    datasets: [SYSTEM_DATASET],
    conditions: [],
    retry: { schedule_seconds: null },
    timeout_ms: LIMITS.deliveryTimeoutMsDefault,
    rate_limit: null,
    ordering: 'none' as const,
    signing: { header: 'both' as const },
    body: 'envelope' as const,
    forward_headers: [],
    transform_id: null,
    tls: null,
    proxy: null,
  }
  return asked.channel === 'email' ? { ...shared, ...emailOf(asked) } : { ...shared, ...presetOf(asked) }
}

function emailOf({ url, email, secret }: Asked) {
  if (email === undefined)
    throw refuse(
      'invalid_request',
      'email is missing. The channel email needs from and to, and url is the mail server.',
    )
  if (email.username !== undefined && secret === undefined)
    throw refuse('invalid_request', 'secret is missing: the password of email.username at the mail server.')
  return {
    url: required(url, 'the mail server, such as smtp://mail.example.com:587'),
    config: {
      kind: 'smtp' as const,
      from: email.from,
      to: email.to,
      subject: 'Postroad alert {id}',
      encryption: 'verify' as const,
    },
    headers: {},
    auth:
      email.username === undefined || secret === undefined
        ? { kind: 'none' as const }
        : { kind: 'basic' as const, username: email.username, password: secret },
    payload_template: EMAIL_TEMPLATE,
  }
}

function presetOf({ channel, url, secret, email }: Asked) {
  if (email !== undefined) throw refuse('invalid_request', 'email is only for the channel email. Leave it out.')
  const preset = presets.find(({ id }) => id === (channel === 'webhook' ? 'generic' : channel))
  if (preset === undefined) throw new Error(`There is no preset for the channel ${channel}.`)
  if (preset.secret !== null && secret === undefined)
    throw refuse('invalid_request', `secret is missing: ${preset.secret}. ${preset.setup}`)
  if (preset.secret === null && secret !== undefined)
    throw refuse('invalid_request', `${preset.name} needs no secret, because its URL contains one. Leave secret out.`)
  return {
    url: preset.url.includes('{') ? required(url, `such as ${preset.url}. ${preset.setup}`) : (url ?? preset.url),
    config: { kind: 'http' as const },
    headers: preset.settings.headers,
    auth: authOf(preset.settings.auth, secret ?? ''),
    payload_template: preset.alert_template,
    // Opsgenie closes an alert at a URL with its id, and a destination has one URL: it gets what opens alerts.
    ...(channel === 'opsgenie' ? { conditions: [{ path: 'action', equals: 'trigger' }] } : {}),
  }
}

function authOf({ kind, header }: { readonly kind: string; readonly header?: string | undefined }, secret: string) {
  if (kind === 'payload') return { kind, secret } as const
  // Opsgenie reads the key after its own word.
  if (kind === 'header') return { kind, header: header ?? '', value: `GenieKey ${secret}` } as const
  return { kind: 'none' } as const
}

function required(url: string | undefined, what: string): string {
  if (url === undefined) throw refuse('invalid_request', `url is missing: ${what}`)
  return url
}
