import { holdText, TROUBLE_CAUSES } from '@postroad/contract/holds'
import type { Tone } from '@postroad/contract/lights'
import type { Search } from '../../../../data/search-text.ts'
import { addressOf, type Span } from '../../../../parts/span.ts'
import { kindWord } from './groups.ts'
import type { Item } from './graph.ts'
import type { End, MapLine, MapNode } from './map-answer.ts'

/** The texts of a map, and the lists to which it leads. */

const HOUR = 60
const DAY = 1_440

/** "12/min", "3.5/h" or "2/day"; a dash for none. */
export function rateText(events: number, minutes: number): string {
  if (events === 0) return '–'
  const [amount, unit] = scaled(events / Math.max(1, minutes))
  return `${amount}/${unit}`
}

/** The same in words: "12 a minute". */
export function rateWords(events: number, minutes: number): string {
  const [amount, unit] = scaled(events / Math.max(1, minutes))
  return `${amount} ${{ min: 'a minute', h: 'an hour', day: 'a day' }[unit]}`
}

function scaled(perMinute: number): readonly [string, 'min' | 'h' | 'day'] {
  if (perMinute >= 1) return [short(perMinute), 'min']
  return perMinute * HOUR >= 1 ? [short(perMinute * HOUR), 'h'] : [short(perMinute * DAY), 'day']
}

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const short = (value: number): string => COMPACT.format(value >= 10 ? Math.round(value) : Math.round(value * 10) / 10)
export const eventsText = (events: number): string => `${count(events)} ${events === 1 ? 'event' : 'events'}`
export const count = (value: number): string => value.toLocaleString('en')

/** The share of attempts that failed, 0 to 1. */
export function failShare({ delivered, failed }: Pick<Item, 'delivered' | 'failed'>): number {
  return failed === 0 ? 0 : failed / (failed + delivered)
}

/** "4% fail". A share above zero is never rounded to 0%, and one below all never to 100%. */
export function shareText(of: Pick<Item, 'delivered' | 'failed'>): string {
  const share = failShare(of)
  if (share === 0) return ''
  const percent = share === 1 ? 100 : Math.min(99, Math.round(share * 100))
  return percent === 0 ? '<1% fail' : `${percent}% fail`
}

/** The status of an item. Deliveries that are held back are known only for the present. */
export function toneOf(item: Item, isPast: boolean): Tone | 'none' {
  const [node] = item.nodes
  const causes = isPast ? [] : item.nodes.flatMap(({ held }) => held?.cause ?? [])
  if (causes.some((cause) => TROUBLE_CAUSES.has(cause) && cause !== 'breaker_recovering')) return 'fail'
  if (item.type === 'node' && node?.enabled === false) return 'paused'
  if (item.failed > 0) return item.delivered === 0 ? 'fail' : 'retry'
  if (item.rejected > 0) return 'rejected'
  return item.events > 0 ? 'ok' : 'none'
}

/** The problems of an item in few words. */
export function troubleText(item: Item, isPast: boolean): string {
  const share = shareText(item)
  const held = isPast ? 0 : item.held
  const [node] = item.nodes
  const why = item.type === 'node' && node?.held !== null && node?.held !== undefined ? `: ${holdText(node.held)}` : ''
  return [
    ...(share === '' ? [] : [share]),
    ...(held > 0 ? [`${count(held)}${node?.held?.more === true ? '+' : ''} held${why}`] : []),
    ...(item.rejected > 0 ? [`${count(item.rejected)} rejected`] : []),
  ].join(' · ')
}

/** The kind of an item, where its column does not say it, and its detail. */
export function kindText({ type, kind, nodes, common }: Item): string {
  if (type === 'group') return common
  const [node] = nodes
  if (node === undefined) return ''
  const isNamedByColumn = kind === 'destination' || kind === 'rule' || kind === 'dataset'
  return [node.enabled ? '' : 'off', isNamedByColumn ? '' : kindWord(kind), node.detail ?? '']
    .filter((part) => part !== '')
    .join(' · ')
}

export type Target = { readonly screen: string; readonly search: Search }

/** The list behind a node, filtered to it and to the range. */
export function targetOf({ kind, id }: Pick<MapNode, 'kind' | 'id'>, span: Span): Target {
  const range = addressOf(span)
  switch (kind) {
    case 'webhook':
      return { screen: 'events', search: { webhook: id, ...range } }
    case 'rule':
      return { screen: 'events', search: { rule: id, ...range } }
    case 'dataset':
      return { screen: 'events', search: { dataset: id, ...range } }
    case 'destination':
      return { screen: 'deliveries', search: { destination: id, ...range } }
    case 'workflow':
      return { screen: 'workflow-runs', search: { workflow: id } }
    case 'ai_trigger':
      return { screen: 'ai-runs', search: { trigger: id } }
    case 'ingest_key':
      return { screen: 'ingest-keys', search: { sel: id } }
    case 'source':
    case 'cron_trigger':
    case 'ws_trigger':
      return { screen: 'sources', search: { sel: id } }
  }
}

const SCREENS: Readonly<Record<MapNode['kind'], string>> = {
  webhook: 'endpoints',
  ingest_key: 'ingest-keys',
  source: 'sources',
  cron_trigger: 'sources',
  ws_trigger: 'sources',
  rule: 'rules',
  dataset: 'datasets',
  workflow: 'workflows',
  ai_trigger: 'ai-triggers',
  destination: 'destinations',
}

/** The list of all nodes of a kind. */
export const listOf = (kind: MapNode['kind']): Target => ({ screen: SCREENS[kind], search: {} })

/** The list behind a line: the events or deliveries that went over it. */
export function lineTarget({ from, to }: MapLine, span: Span): Target {
  const range = addressOf(span)
  if (from.id === null || to.id === null) return endTarget(from.id === null ? to : from, span)
  if (to.kind === 'destination')
    return from.kind === 'dataset'
      ? { screen: 'deliveries', search: { destination: to.id, dataset: from.id, ...range } }
      : endTarget(to, span)
  if (to.kind === 'rule' || to.kind === 'workflow' || to.kind === 'ai_trigger') return endTarget(to, span)
  if (from.kind === 'webhook') return { screen: 'events', search: { webhook: from.id, dataset: to.id, ...range } }
  if (from.kind === 'rule') return { screen: 'events', search: { rule: from.id, dataset: to.id, ...range } }
  return { screen: 'events', search: { dataset: to.id, ...range } }
}

function endTarget({ kind, id }: End, span: Span): Target {
  return id === null ? listOf(kind) : targetOf({ kind, id }, span)
}
