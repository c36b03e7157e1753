import { HOLD_CAUSES, holdText, type HoldCause, type RouteAnswer, type Routes } from '@postroad/contract'
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
import { deliveryText } from '../delivery-text.ts'
import { more } from '../text/more.ts'
import { STATES, type DeliveryState } from '../text/state.ts'
import { style } from '../text/style.ts'
import { fields } from '../text/table.ts'
import { destinationId } from './recover.ts'
import { startReplay, withStart, type StartOptions } from './replays.ts'

type FilterOptions = {
  readonly state?: DeliveryState
  readonly destination?: string
  readonly event?: string
  readonly heldBy?: HoldCause | 'any'
}
type Listed = RouteAnswer<Routes['deliveries']['list']>

const EXAMPLE_ID = 'dlv_01m7yttq4ye5ks3w8pq6gbnadt'

export function addDeliveries(program: Command): void {
  const deliveries = program
    .command('deliveries')
    .summary('list, show, retry, cancel and replay deliveries')
    .description('What was sent to destinations, and how it went.')
  const list = deliveries
    .command('list')
    .summary('list deliveries')
    .description('Lists the deliveries, newest first.')
    .addOption(new Option('--state <state>', 'only those in this state').choices(STATES))
    .option('--destination <destination>', 'only those to this destination: id or name')
    .option('--event <event>', 'only those of this event (rec_…)')
    .addOption(
      new Option('--held-by <cause>', 'only those that their destination holds back').choices(['any', ...HOLD_CAUSES]),
    )
    .action(listDeliveries)
  withExample(withList(list), 'deliveries list --state failed', 'deliveries list --held-by any')

  const get = deliveries
    .command('get')
    .argument('<delivery>', 'the id of the delivery (dlv_…)')
    .summary('show a delivery and every attempt')
    .description('Shows a delivery with every attempt and what the destination answered.')
    .action(getDelivery)
  withExample(withCommon(get), `deliveries get ${EXAMPLE_ID}`)

  const replay = deliveries
    .command('replay')
    .argument('[delivery]', 'the id of one delivery (dlv_…); without it, all that the options name')
    .summary('send ended deliveries again')
    .description(
      'Sends an ended delivery again, now, with the same body and event id. Without an\nid: all that the options name, at a pace. Prints the plan first and asks.',
    )
    .option('--destination <destination>', 'those to this destination: id or name')
    .addOption(
      new Option('--state <state...>', 'those that have ended like this (without it, failed)').choices([
        'failed',
        'cancelled',
        'delivered',
      ]),
    )
    .option('--since <time>', 'those made since then: RFC 3339, or 30m, 6h, 2d ago', timeOf)
    .option('--until <time>', 'those made before then', timeOf)
    .option('--dataset <dataset>', 'those of events of this dataset')
    .option('--text <text>', 'those whose payload has this text in it')
    .action(replayDeliveries)
  withExample(
    withStart(withCommon(replay)),
    `deliveries replay ${EXAMPLE_ID}`,
    'deliveries replay --destination billing --since 6h --dry-run',
  )

  for (const [verb, what] of [
    ['retry', 'send a waiting delivery now'],
    ['cancel', 'send nothing more of a delivery'],
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
  heldBy: held_by,
  ...options
}: ListOptions & FilterOptions): Promise<void> {
  const { client } = await connect(options)
  const destination_id = destination === undefined ? undefined : await destinationId(client, destination)
  const answer = await client.deliveries.list({ limit, cursor, state, destination_id, record_id: event, held_by })
  const people = options.json !== true && options.quiet !== true && answer.deliveries.length > 0
  const names = people ? await destinationNames(client) : new Map<string, string>()
  const ids = answer.deliveries.map(({ id }) => id)
  const filtered = [state, destination, event, held_by].some((one) => one !== undefined)
  print({ json: answer, ids, text: () => (ids.length === 0 ? noneText(filtered) : listText(answer, names)) }, options)
}

function noneText(filtered: boolean): string {
  return filtered
    ? 'No delivery is like that.'
    : `There are no deliveries here. They begin with a destination: ${invokedAs()} destinations create https://…`
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
      'Name a delivery (dlv_…), or say which ones: --destination, --state, --since, --until, --dataset or --text.',
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
  replay: ['Again', 'as one more attempt'],
  retry: ['Retried', 'as soon as the destination has room'],
  cancel: ['Cancelled', 'a replay sends it after all'],
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
