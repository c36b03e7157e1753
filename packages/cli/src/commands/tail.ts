import type { Command } from 'commander'
import type { Rejection } from '@postroad/contract'
import { checkFilters, FILTER_HELP, readFilters, type EventFilter } from '../filter/filter.ts'
import { follow, type Arrival } from '../follow/follow.ts'
import { sourceOf } from '../follow/source.ts'
import { say, complain, io, signals } from '../io.ts'
import { namingOf, type Naming } from '../listen/heard.ts'
import { headOf } from '../listen/lines.ts'
import { collected, numberIn, timeOf, withExample, withProject, type ConnectionOptions } from '../options.ts'
import { cut, plain } from '../text/plain.ts'
import { style } from '../text/style.ts'
import { duration, moment } from '../text/time.ts'
import { endpointId } from './rotate.ts'

type TailOptions = ConnectionOptions & {
  readonly filter?: readonly string[]
  readonly endpoint?: readonly string[]
  readonly dataset?: readonly string[]
  readonly failed?: true
  readonly since?: string
  readonly count?: number
  readonly json?: true
}
type Delivery = Extract<Arrival, { kind: 'delivery' }>['delivery']

export function addTail(program: Command): void {
  const tail = program
    .command('tail')
    .summary('print events, rejected requests and failures as they happen')
    .description(
      'Prints one line for each event that is stored, each request that is rejected, and each delivery that fails. Runs until you press Ctrl-C, and reconnects automatically after a connection loss. With --filter or --dataset it prints events only.',
    )
    .option('--filter <condition>', FILTER_HELP, collected)
    .option('--endpoint <endpoint>', 'only this endpoint: slug or id; may be repeated', collected)
    .option('--dataset <dataset>', 'only events of this dataset; may be repeated', collected)
    .option('--failed', 'only refusals and deliveries that fail')
    .option('--since <time>', 'start with the events since this time: RFC 3339, or 30m, 6h, 2d ago', timeOf)
    .option('--count <count>', 'stop after this many lines', numberIn(1, 1_000_000_000))
    .option('--json', 'print one line of JSON for each, as the stream brings it')
    .action(tailEvents)
  withExample(withProject(tail), 'tail', `tail --filter 'amount > 1000' --since 10m`, 'tail --failed --json')
}

async function tailEvents({ count = Infinity, ...options }: TailOptions): Promise<void> {
  const { since, dataset } = options
  const filter = await readFilters(options.filter)
  const source = await sourceOf(options, { detail: filter.ofRequest ? 'request' : 'sender', since, dataset })
  const { client } = source.connection
  const [naming] = await Promise.all([namingOf(client), checkFilters(client, filter)])
  const endpoints = await Promise.all((options.endpoint ?? []).map((one) => endpointId(client, one)))
  const only = { ...options, endpoints: endpoints.length === 0 ? undefined : new Set(endpoints), meets: filter.meets }
  const stop = new AbortController()
  const end = (): void => stop.abort()
  signals().once('SIGINT', end).once('SIGTERM', end)
  let printed = 0
  try {
    for await (const arrival of follow({ ...source, cursor: undefined, signal: stop.signal })) {
      const text = isWanted(arrival, only) ? lineOf(arrival, { naming, json: options.json === true }) : undefined
      if (text === undefined) noteOf(arrival)
      else say(text)
      printed += text === undefined ? 0 : 1
      if (printed >= count) return
    }
  } finally {
    signals().off('SIGINT', end).off('SIGTERM', end)
  }
}

type Only = TailOptions & {
  readonly endpoints: ReadonlySet<string> | undefined
  readonly meets: EventFilter['meets']
}

function isWanted(arrival: Arrival, only: Only): boolean {
  const onlyEvents = asksForEvents(only)
  switch (arrival.kind) {
    case 'record':
      return only.failed !== true && isOf(only, arrival.record.webhook_id) && only.meets(arrival.record)
    case 'rejection':
      return !onlyEvents && isOf(only, arrival.rejection.webhook_id)
    case 'delivery':
      return !onlyEvents && showsDelivery(only, arrival.delivery)
    case 'gap':
      return true
    case 'moved':
    case 'live':
    case 'lost':
      return false
  }
}

const asksForEvents = ({ filter, dataset }: Only): boolean => filter !== undefined || dataset !== undefined
/** A delivery does not name its endpoint, so a filter by endpoint hides all deliveries. */
const showsDelivery = ({ endpoints }: Only, { state }: Delivery): boolean =>
  endpoints === undefined && (state === 'failed' || state === 'retrying')

const isOf = ({ endpoints }: Only, id: string | null | undefined): boolean => endpoints?.has(id ?? '') !== false

type Printing = { readonly naming: Naming; readonly json: boolean }

function lineOf(arrival: Arrival, { naming, json }: Printing): string | undefined {
  if (json) return jsonOf(arrival)
  const width = io().stdout.columns ?? Infinity
  switch (arrival.kind) {
    case 'record': {
      const heard = naming(arrival.record)
      return line({ at: heard.receivedAt, mark: style.good('event   '), text: `${headOf(heard)}  ${heard.id}` }, width)
    }
    case 'rejection':
      return line(
        { at: arrival.rejection.at, mark: style.waits('rejected'), text: refusalText(arrival.rejection) },
        width,
      )
    case 'delivery':
      return line(
        { at: arrival.delivery.updated_at, mark: style.bad('failed  '), text: deliveryText(arrival.delivery) },
        width,
      )
    case 'gap':
      return style.bad(`GAP: the events from ${moment(arrival.from)} to ${moment(arrival.to)} are no longer stored.`)
    case 'moved':
    case 'live':
    case 'lost':
      return undefined
  }
}

function jsonOf(arrival: Arrival): string | undefined {
  switch (arrival.kind) {
    case 'record':
      return JSON.stringify({ type: 'record', ...arrival.record })
    case 'rejection':
      return JSON.stringify({ type: 'rejection', ...arrival.rejection })
    case 'delivery':
      return JSON.stringify({ type: 'delivery', ...arrival.delivery })
    case 'gap':
      return JSON.stringify({ type: 'gap', from: arrival.from, to: arrival.to })
    case 'moved':
    case 'live':
    case 'lost':
      return undefined
  }
}

type Line = { readonly at: string; readonly mark: string; readonly text: string }

/** The time takes 12 columns and the word 8. */
const line = ({ at, mark, text }: Line, width: number): string =>
  `${style.dim(at.slice(11, 23))}  ${mark}  ${cut(plain(text), Math.max(10, width - 24))}`

function refusalText({ reason, status, count, webhook_id, source_ip }: Rejection): string {
  const times = count === 1 ? '' : `  ${count} times in this minute`
  return `${reason.replaceAll('_', ' ')} (${status})${times}  ${webhook_id ?? 'ingest key'}${source_ip === null ? '' : `  from ${source_ip}`}`
}

function deliveryText({ id, state, last_status, last_error, attempt_count }: Delivery): string {
  const answer = last_status === null ? (last_error?.replaceAll('_', ' ') ?? '') : String(last_status)
  return `${answer} on attempt ${attempt_count}, ${state === 'failed' ? 'given up' : 'tried again'}  ${id}`
}

function noteOf(arrival: Arrival): void {
  if (arrival.kind === 'lost') complain(style.waits(`The connection was lost: ${arrival.why}. Reconnecting…`))
  if (arrival.kind === 'live' && arrival.again) complain(style.dim(`Reconnected after ${duration(arrival.lostMs)}.`))
}
