import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import {
  ALERT_TYPE_NAMES,
  alertFacts,
  DEFAULT_SCHEDULE_SECONDS,
  FORWARDER_PRESETS,
  KNOWN_HANDSHAKES,
  REASONS,
  REMEDIES,
  SourcePreset,
  type KnownHandshake,
} from '@postroad/contract'
import { ATTEMPT_ERRORS } from '@postroad/contract/openapi'

/** Writes the tables of the guides from the contract; with `--check` it fails when one is stale. */
const GUIDES = [
  'docs/guides/alerts.md',
  'docs/guides/errors.md',
  'docs/guides/forwarding.md',
  'docs/guides/retries.md',
  'docs/guides/senders.md',
  'docs/guides/verify.md',
]

const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

const remedies: Readonly<Record<string, string>> = REMEDIES
const reasons = Object.entries(REASONS)

/** `23 min`, `2 h`: rounded, because each wait varies. */
function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  return seconds < 3_600 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1).replace(/\.0$/, '')} h`
}

function schedule(): string {
  let total = 0
  const rows = DEFAULT_SCHEDULE_SECONDS.map((seconds, index) => {
    total += seconds
    return [String(index + 1), seconds === 0 ? 'at once' : duration(seconds), duration(total)]
  })
  // All later waits are the same, so one row represents them.
  const last = rows.length - 1
  const first = DEFAULT_SCHEDULE_SECONDS.findIndex((seconds) => seconds === DEFAULT_SCHEDULE_SECONDS[last])
  const shown = [
    ...rows.slice(0, first),
    [`${first + 1} to ${rows.length}`, `${duration(DEFAULT_SCHEDULE_SECONDS[last] ?? 0)} each`, rows[last]?.[2] ?? ''],
  ]
  return table(['attempt', 'wait before it', 'time since the event'], shown)
}

/** The providers that endpoints can be set up for, by name. */
function senders(): string {
  const folder = 'packages/verify/presets'
  const presets = readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => SourcePreset.parse(JSON.parse(readFileSync(`${folder}/${file}`, 'utf8'))))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
  return table(
    ['provider', 'preset', 'scheme', 'header', 'signed content', 'secret', 'event id', 'proof'],
    presets.map(({ id, name, docs_url, signature_header, secret, settings: { verification, idempotency } }) => [
      `[${name}](${docs_url})`,
      `\`${id}\``,
      `\`${verification.scheme}\``,
      `\`${signature_header}\``,
      'signed' in verification ? `\`${verification.signed}\`` : (CONTENTS[verification.scheme] ?? ''),
      secret,
      idempotency === null ? '' : `\`${'header' in idempotency ? idempotency.header : idempotency.path}\``,
      proofOf(`${folder}/proofs/${id}.json`),
    ]),
  )
}

/** The library or code that signed or verified a request of the provider, or the place that publishes one. */
function proofOf(file: string): string {
  if (!existsSync(file)) return ''
  const { by, how }: { readonly by: string; readonly how?: string } = JSON.parse(readFileSync(file, 'utf8'))
  if (!by.startsWith('https://')) return /^.+? \S+ \S+(?=:)/.exec(by)?.[0] ?? by
  return `[${HOW[how ?? ''] ?? 'published'}](${by})`
}

const HOW: Readonly<Record<string, string>> = { ran: 'its code', shown: 'token shown' }

/** The members of an answer that a request has to send. */
function withoutDefaults({ status, content_type, headers, body }: KnownHandshake['form']['answer']): object {
  return {
    ...(status === 200 ? {} : { status }),
    ...(content_type === 'text/plain' ? {} : { content_type }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(body === '' ? {} : { body }),
  }
}

const CONTENTS: Readonly<Record<string, string>> = {
  payments_provider: '`{timestamp}.{body}`',
  code_host: '`{body}`',
  commerce_platform: '`{body}`',
  chat_platform: '`v0:{timestamp}:{body}`',
  standard_webhooks: '`{id}.{timestamp}.{body}`',
  hmac: '`{body}`',
  jwt: 'the hash of the body',
  oidc_bearer: 'the claims of the token',
  static_token: 'nothing',
  basic_auth: 'nothing',
  aws_sns: 'the members of the message',
  paypal: '`{id}|{timestamp}|{webhook}|{CRC-32 of the body}`',
}

const TABLES: Readonly<Record<string, () => string>> = {
  ingest: () =>
    table(
      ['reason', 'status', 'meaning', 'what the owner of the endpoint can do'],
      reasons
        .filter(([reason]) => reason in remedies)
        .map(([reason, { status, text }]) => [`\`${reason}\``, String(status), text, remedies[reason] ?? '']),
    ),
  api: () =>
    table(
      ['reason', 'status', 'meaning and remedy'],
      reasons
        .filter(([reason]) => !(reason in remedies))
        .map(([reason, { status, text }]) => [`\`${reason}\``, String(status), text]),
    ),
  attempts: () =>
    table(
      ['code', 'meaning', 'remedy'],
      Object.entries(ATTEMPT_ERRORS).map(([code, { meaning, remedy }]) => [`\`${code}\``, meaning, remedy]),
    ),
  schedule,
  senders,
  handshakes: () =>
    table(
      ['provider', 'handshake'],
      KNOWN_HANDSHAKES.map(({ name, form: { when, proof, answer } }) => [
        name,
        `\`${JSON.stringify({ when, ...(proof === null ? {} : { proof }), answer: withoutDefaults(answer) })}\``,
      ]),
    ),
  alerts: () =>
    table(
      ['type', 'opens when', 'from', 'critical from', 'at the end'],
      ALERT_TYPE_NAMES.map((type) => {
        const { meaning, threshold, critical, unit, resolved, severity } = alertFacts(type)
        const value = (n: number | null) => (n === null ? '' : `${n.toLocaleString('en')} ${unit}`)
        return [`\`${type}\``, meaning, value(threshold), severity ?? value(critical), `\`${resolved}\``]
      }),
    ),
  forwarders: () =>
    table(
      ['receiver', 'preset', 'endpoint', 'headers', 'encoding', 'note', 'read on'],
      FORWARDER_PRESETS.map(({ id, name, endpoint, headers, encodings, note, docs_url, checked }) => [
        docs_url === null ? name : `[${name}](${docs_url})`,
        `\`${id}\``,
        `\`${endpoint}\``,
        headers
          .map((header) => `\`${header.name}: ${header.form}\`${header.required ? '' : ' (not always)'}`)
          .join('<br>'),
        encodings.join(', '),
        note,
        checked ?? '',
      ]),
    ),
}

for (const guide of GUIDES) {
  const before = readFileSync(guide, 'utf8')
  const after = before.replaceAll(/(?<=<!-- table: \w+ -->\n)[^]*?(?=<!-- end -->)/g, (_old, at: number) => {
    const name = /(\w+) -->\n$/.exec(before.slice(0, at))?.[1] ?? ''
    const make = TABLES[name]
    if (make === undefined) throw new Error(`${guide} asks for the table "${name}", which no generator writes.`)
    return `${make()}\n`
  })
  if (!process.argv.includes('--check')) writeFileSync(guide, after)
  else if (before !== after) {
    console.error(`${guide} is stale; run npm run docs.`)
    process.exitCode = 1
  }
}
