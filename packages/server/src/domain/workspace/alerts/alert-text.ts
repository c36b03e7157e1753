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

/** One sentence: what is wrong. */
export function alertText({ type, subject, value, detail }: Told): string {
  const named = `${WORDS[subject.kind]} ${subject.name}`
  switch (type) {
    case 'signature.failing':
      return `${count(value, 'request')} to the ${named} failed the signature check within 15 minutes.`
    case 'source.failing':
      return `The ${named} fails: ${count(value, 'failure')} in a row.${said(detail)}`
    case 'source.lagging':
      return `The replication slot of the ${named} retains ${value.toLocaleString('en')} MiB of the log of its database.`
    case 'destination.failing':
      return `Every attempt at the ${named} has failed for ${minutes(value)}.${lastFailure(detail)}`
    case 'destination.disabled':
      return detail['reason'] === 'gone'
        ? `Postroad turned off the ${named}, because it answered 410 Gone.`
        : `Postroad turned off the ${named}, because no delivery to it succeeded for days.`
    case 'delivery.failed':
      return `${count(value, 'delivery', 'deliveries')} to the ${named} failed for good within an hour.`
    case 'backlog.old':
      return `A delivery that is due has waited at the ${named} for ${minutes(value)}.`
    case 'workflow.failing':
      return `${count(value, 'run')} of the ${named} failed within an hour.`
    case 'quota.near':
      return `The workspace has used ${value} % of the ${subject.kind === 'events_quota' ? 'events' : 'deliveries'} of the month.`
    case 'key.expiring':
      return `The ${named} ${expires(value, detail)}.`
    case 'certificate.expiring':
      return `The client certificate of the ${named} ${expires(value, detail)}.`
  }
}

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
