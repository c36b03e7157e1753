import type { AlertSubject, AlertType } from '@postroad/contract'

export type Told = {
  readonly type: AlertType
  readonly subject: { readonly kind: AlertSubject; readonly name: string }
  readonly value: number
  readonly detail: Readonly<Record<string, unknown>>
}

const WORDS: Readonly<Record<AlertSubject, string>> = {
  destination: 'destination',
  webhook: 'endpoint',
  ingest_key: 'ingest key',
  source: 'source',
  cron_trigger: 'cron trigger',
  ws_trigger: 'WebSocket trigger',
  workflow: 'workflow',
  api_key: 'admin API key',
  data_key: 'Data API key',
  events_quota: 'workspace',
  deliveries_quota: 'workspace',
}

const count = (n: number, one: string, many = `${one}s`): string => `${n.toLocaleString('en')} ${n === 1 ? one : many}`

/** A time that a person grasps at once. */
function minutes(n: number): string {
  if (n < 120) return count(n, 'minute')
  return n < 2_880 ? count(Math.floor(n / 60), 'hour') : count(Math.floor(n / 1_440), 'day')
}

type Sentence = (named: string, told: Told) => string

const SENTENCES: Readonly<Record<AlertType, Sentence>> = {
  'signature.failing': (named, { value }) =>
    `${count(value, 'request')} to the ${named} failed the signature check within 15 minutes.`,
  'source.failing': (named, { value, detail }) =>
    `The ${named} fails: ${count(value, 'failure')} in a row.${said(detail)}`,
  'source.lagging': (named, { value }) =>
    `The replication slot of the ${named} retains ${value.toLocaleString('en')} MiB of the log of its database.`,
  'destination.failing': (named, { value, detail }) =>
    `Every attempt at the ${named} has failed for ${minutes(value)}.${lastFailure(detail)}`,
  'destination.disabled': (named, { detail }) =>
    `Postroad turned off the ${named}, because ${detail['reason'] === 'gone' ? 'it answered 410 Gone' : 'no delivery to it succeeded for days'}.`,
  'delivery.failed': (named, { value }) =>
    `${count(value, 'delivery', 'deliveries')} to the ${named} failed permanently within an hour.`,
  'backlog.old': (named, { value }) => `A delivery that is due has waited at the ${named} for ${minutes(value)}.`,
  'workflow.failing': (named, { value }) => `${count(value, 'run')} of the ${named} failed within an hour.`,
  'quota.near': (_named, { value, subject }) =>
    `The workspace has used ${value} % of the ${subject.kind === 'events_quota' ? 'events' : 'deliveries'} of the month.`,
  'key.expiring': (named, { value, detail }) => `The ${named} ${expires(value, detail)}.`,
  'certificate.expiring': (named, { value, detail }) =>
    `The client certificate of the ${named} ${expires(value, detail)}.`,
}

/** One sentence: what is wrong. */
export const alertText = (told: Told): string =>
  SENTENCES[told.type](`${WORDS[told.subject.kind]} ${told.subject.name}`, told)

function said({ error }: Told['detail']): string {
  return typeof error === 'string' ? ` ${error}` : ''
}

function lastFailure({ status, error_code }: Told['detail']): string {
  if (typeof status === 'number') return ` The last response was ${status}.`
  return typeof error_code === 'string' ? ` The last error was ${error_code}.` : ''
}

function expires(days: number, { expires_at }: Told['detail']): string {
  const on = typeof expires_at === 'string' ? `, on ${expires_at.slice(0, 10)}` : ''
  return days === 0 ? `expires within a day or has expired${on}` : `expires in ${count(days, 'day')}${on}`
}
