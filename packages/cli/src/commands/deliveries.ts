import type { RouteAnswer, RouteRequest, Routes } from '@postroad/contract'
import { HOLD_CAUSES, holdText, type HoldCause } from '@postroad/contract/holds'
import type { Client } from '@postroad/sdk'
import { Option, type Command } from 'commander'
import { connect } from '../connection.ts'
import { deliveriesTable, destinationNames } from '../deliveries-table.ts'
import { EXIT, Failure } from '../failure.ts'
import {
  invokedAs,
  timeOf,
  withCommon,
  withExample,
  withList,
  type CommonOptions,
  type ListOptions,
} from '../options.ts'
import { print } from '../output.ts'
import { attemptText } from '../attempt-text.ts'
import { deliveryText } from '../delivery-text.ts'
import { more } from '../text/more.ts'
import { STATES, type DeliveryState } from '../text/state.ts'
import { style } from '../text/style.ts'
import { fields } from '../text/table.ts'
import { destinationId } from './recover.ts'
import { idIn } from '../rooms/lookup.ts'
import { startReplay, withStart, type StartOptions } from './replays.ts'

type FilterOptions = {
  readonly state?: DeliveryState
  readonly destination?: string
  readonly event?: string
  readonly rule?: string
  readonly heldBy?: HoldCause | 'any'
}
type Listed = RouteAnswer<Routes['deliveries']['list']>

const EXAMPLE_ID = 'dlv_01m7yttq4ye5ks3w8pq6gbnadt'

export function addDeliveries(program: Command): void {
  const deliveries = program
    .command('deliveries')
    .summary('list, show, retry, cancel and replay deliveries')
    .description('The deliveries of events to destinations, with their outcomes.')
  const list = deliveries
    .command('list')
    .summary('list deliveries')
    .description('Lists the deliveries, newest first.')
    .addOption(new Option('--state <state>', 'only deliveries in this state').choices(STATES))
    .option('--destination <destination>', 'only deliveries to this destination: id or name')
    .option('--event <event>', 'only deliveries of this event (rec_…)')
    .option('--rule <rule>', 'only deliveries of events that this rule filed: id or name')
    .addOption(
      new Option('--held-by <cause>', 'only deliveries that their destination holds back').choices([
        'any',
        ...HOLD_CAUSES,
      ]),
    )
    .action(listDeliveries)
  withExample(withList(list), 'deliveries list --state failed', 'deliveries list --held-by any')

  const get = deliveries
    .command('get')
    .argument('<delivery>', 'the id of the delivery (dlv_…)')
    .summary('show a delivery and every attempt')
    .description('Shows a delivery with every attempt and the responses of the destination.')
    .action(getDelivery)
  withExample(withCommon(get), `deliveries get ${EXAMPLE_ID}`)

  const attempt = deliveries
    .command('attempt')
    .argument('<attempt>', 'the id of the attempt (att_…)')
    .summary('show the request of an attempt as it was sent')
    .description(
      'Shows one attempt with its request as it was sent and its answer. Says whether the\nbody that is shown is the one that was sent.',
    )
    .action(getAttempt)
  withExample(withCommon(attempt), 'deliveries attempt att_01m7yttq4ye5ks3w8pq6gbnadt')

  const replay = deliveries
    .command('replay')
    .argument('[delivery]', 'the id of one delivery (dlv_…); without it, all that match the options')
    .summary('send ended deliveries again')
    .description(
      'Sends an ended delivery again, now, with the same body and event id. Without an\nid it replays every delivery that matches the options, at a steady rate. Prints\nthe plan first and asks.',
    )
    .option('--destination <destination>', 'deliveries to this destination: id or name')
    .addOption(
      new Option('--state <state...>', 'deliveries that ended in this state (without it, failed)').choices([
        'failed',
        'cancelled',
        'delivered',
      ]),
    )
    .option('--since <time>', 'deliveries created since this time: RFC 3339, or 30m, 6h, 2d ago', timeOf)
    .option('--until <time>', 'deliveries created before this time', timeOf)
    .option('--dataset <dataset>', 'deliveries of events in this dataset')
    .option('--text <text>', 'deliveries whose payload contains this text')
    .action(replayDeliveries)
  withExample(
    withStart(withCommon(replay)),
    `deliveries replay ${EXAMPLE_ID}`,
    'deliveries replay --destination billing --since 6h --dry-run',
  )

  for (const [verb, what] of [
    ['retry', 'send a waiting delivery now'],
    ['cancel', 'stop sending a delivery'],
  ] as const) {
    const command = deliveries
      .command(verb)
      .argument('<delivery>', 'the id of the delivery (dlv_…)')
      .summary(what)
      .description(
        verb === 'retry'
          ? 'Sends a delivery that waits for its next attempt now. While the breaker of its\ndestination is open, it still waits for a probe: see destinations probe.'
          : 'Ends a delivery that waits, is paused or is being sent.',
      )
      .action(async (id: string, options: CommonOptions) => {
        const { client } = await connect(options)
        const answer = await client.deliveries[verb]({ id })
        print({ json: answer, ids: [answer.delivery.id], text: () => doneText(answer, verb) }, options)
      })
    withExample(withCommon(command), `deliveries ${verb} ${EXAMPLE_ID}`)
  }
}

async function listDeliveries({
  limit,
  cursor,
  state,
  destination,
  event,
  rule,
  heldBy: held_by,
  ...options
}: ListOptions & FilterOptions): Promise<void> {
  const { client } = await connect(options)
  const destination_id = destination === undefined ? undefined : await destinationId(client, destination)
  if (rule !== undefined && event !== undefined)
    throw new Failure('Leave out --event or --rule: an event was filed by one rule.', EXIT.usage)
  const answer =
    rule === undefined
      ? await client.deliveries.list({ limit, cursor, state, destination_id, record_id: event, held_by })
      : await listByRule(client, {
          limit,
          cursor,
          state,
          destination: destination_id,
          held_by,
          rule: await idIn(client, 'rules', rule),
        })
  const people = options.json !== true && options.quiet !== true && answer.deliveries.length > 0
  const names = people ? await destinationNames(client) : new Map<string, string>()
  const ids = answer.deliveries.map(({ id }) => id)
  const filtered = [state, destination, event, rule, held_by].some((one) => one !== undefined)
  print({ json: answer, ids, text: () => (ids.length === 0 ? noneText(filtered) : listText(answer, names)) }, options)
}

type Search = RouteRequest<Routes['search']['deliveries']>
/** Each call reads a few hundred deliveries, so a search for a rare rule takes many calls. */
const SEARCH_CALLS_MAX = 50

/** A page of a search: it takes several calls, because one call reads a bounded part. */
async function listByRule(client: Client, asked: Search & { readonly limit: number }): Promise<Listed> {
  const deliveries: Listed['deliveries'] = []
  let cursor = asked.cursor
  for (let call = 0; call < SEARCH_CALLS_MAX; call += 1) {
    // oxlint-disable-next-line no-await-in-loop -- a page starts where the previous one ended
    const page = await client.search.deliveries({ ...asked, limit: asked.limit - deliveries.length, cursor, f: [] })
    deliveries.push(...page.deliveries)
    if (page.next_cursor === null) return { deliveries, next_cursor: null }
    cursor = page.next_cursor
    if (deliveries.length >= asked.limit) break
  }
  return { deliveries, next_cursor: cursor ?? null }
}

async function getAttempt(id: string, options: CommonOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.attempts.get({ id })
  print({ json: answer, ids: [answer.attempt.id], text: () => attemptText(answer) }, options)
}

function noneText(filtered: boolean): string {
  return filtered
    ? 'No deliveries match the filters.'
    : `There are no deliveries here. Create a destination first: ${invokedAs()} destinations create https://…`
}

function listText(answer: Listed, names: ReadonlyMap<string, string>): string {
  return [deliveriesTable(answer.deliveries, { names }), ...more(answer.next_cursor)].join('\n')
}

async function getDelivery(id: string, options: CommonOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.deliveries.get({ id })
  const { delivery } = answer
  const names =
    options.json === true || options.quiet === true ? new Map<string, string>() : await destinationNames(client)
  const name = names.get(delivery.destination_id)
  print({ json: answer, ids: [delivery.id], text: () => deliveryText(delivery, { name, next: invokedAs() }) }, options)
}

type Ended = 'failed' | 'cancelled' | 'delivered'
type ReplayOptions = StartOptions & {
  readonly destination?: string
  readonly state?: Ended[]
  readonly since?: string
  readonly until?: string
  readonly dataset?: string
  readonly text?: string
}

async function replayDeliveries(id: string | undefined, options: ReplayOptions): Promise<void> {
  const { destination, state, since, until, dataset, text, rate } = options
  const { client } = await connect(options)
  if (id !== undefined) {
    const answer = await client.deliveries.replay({ id })
    print({ json: answer, ids: [answer.delivery.id], text: () => doneText(answer, 'replay') }, options)
    return
  }
  if ([destination, state, since, until, dataset, text].every((one) => one === undefined)) {
    throw new Failure(
      'Name a delivery (dlv_…), or select deliveries with --destination, --state, --since, --until, --dataset or --text.',
      EXIT.usage,
    )
  }
  const filter = {
    state,
    destination_id: destination === undefined ? undefined : await destinationId(client, destination),
    from: since,
    to: until,
    dataset,
    q: text,
  }
  await startReplay(
    { client, ask: (dry_run) => client.replays.create({ filter, rate_per_second: rate, dry_run }) },
    options,
  )
}

const DONE = {
  replay: ['Replayed', 'with a new retry schedule'],
  retry: ['Retried', 'sent when the destination has capacity'],
  cancel: ['Canceled', 'replay it to send it'],
} as const

function doneText({ delivery }: RouteAnswer<Routes['deliveries']['replay']>, verb: keyof typeof DONE): string {
  const [label, note] = DONE[verb]
  const { held_by } = delivery
  const isHeld = verb === 'retry' && held_by !== null
  return fields([
    [label, `${delivery.id}  ${style.dim(isHeld ? `due now, but ${holdText(held_by)}` : note)}`],
    ...(isHeld && held_by.cause === 'breaker_open'
      ? [['Probe', `${invokedAs()} destinations probe ${delivery.destination_id}`] as const]
      : []),
    ['Next', `${invokedAs()} deliveries get ${delivery.id}`],
  ])
}
