import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Search } from '../../../data/search-text.ts'
import type { Tone } from '../../../ui/glyph.tsx'

export type Alert = RouteAnswer<Routes['alerts']['list']>['alerts'][number]
export type AlertSettings = RouteAnswer<Routes['alerts']['settings']>
export type AlertTypeInfo = RouteAnswer<Routes['alerts']['types']>['alert_types'][number]

type Shown = { readonly tone: Tone; readonly word: string; readonly text: string }

/** The state of an alert at a glance. */
export function alertLight({ state, severity, muted, held }: Alert): Shown {
  if (state === 'resolved') return { tone: 'ok', word: 'Resolved', text: 'The cause has ended.' }
  if (muted !== null) return { tone: 'paused', word: 'Muted', text: 'Someone acknowledged it.' }
  if (held) return { tone: 'paused', word: 'Held', text: 'Quiet hours hold it back.' }
  return severity === 'critical'
    ? { tone: 'fail', word: 'Critical', text: 'The cause is there, and critical.' }
    : { tone: 'retry', word: 'Warning', text: 'The cause is there.' }
}

const TITLES: Readonly<Record<string, string>> = {
  'signature.failing': 'Signatures fail',
  'source.failing': 'Source fails',
  'source.lagging': 'Source lags',
  'destination.failing': 'Destination fails',
  'destination.disabled': 'Destination turned off',
  'delivery.failed': 'Deliveries failed',
  'backlog.old': 'Old backlog',
  'workflow.failing': 'Workflow fails',
  'quota.near': 'Quota nearly used',
  'key.expiring': 'Key expires',
  'certificate.expiring': 'Certificate expires',
}

export const titleOf = (type: string): string => TITLES[type] ?? type

type Link = { readonly screen: string; readonly search: Search; readonly label: string }

/** The list that shows the cause. */
export function causeOf({ type, subject: { kind, id } }: Pick<Alert, 'type' | 'subject'>): Link {
  if (type === 'certificate.expiring' || type === 'destination.disabled')
    return { screen: 'destinations', search: { sel: id }, label: 'Destination' }
  switch (kind) {
    case 'destination':
      return type === 'delivery.failed'
        ? { screen: 'deliveries', search: { destination: id, state: 'failed' }, label: 'Failed deliveries' }
        : { screen: 'deliveries', search: { destination: id, state: 'retrying' }, label: 'Waiting deliveries' }
    case 'webhook':
      return { screen: 'rejections', search: { webhook: id, range: '1h' }, label: 'Rejected requests' }
    case 'ingest_key':
      return { screen: 'rejections', search: { key: id, range: '1h' }, label: 'Rejected requests' }
    case 'source':
    case 'cron_trigger':
    case 'ws_trigger':
      return { screen: 'sources', search: { sel: id }, label: 'Source' }
    case 'workflow':
      return { screen: 'workflow-runs', search: { workflow: id, view: 'failed' }, label: 'Failed runs' }
    case 'api_key':
      return { screen: 'api-keys', search: { sel: id }, label: 'Admin API keys' }
    case 'data_key':
      return { screen: 'data-keys', search: { sel: id }, label: 'Data API keys' }
    case 'events_quota':
    case 'deliveries_quota':
      return { screen: 'billing', search: {}, label: 'Usage of the month' }
  }
}
