import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import { Option, type Command } from 'commander'
import { connect } from '../connection.ts'
import { deliveriesTable, destinationNames } from '../deliveries-table.ts'
import { EXIT, Failure } from '../failure.ts'
import { invokedAs, withCommon, withExample, withList, type CommonOptions, type ListOptions } from '../options.ts'
import { print } from '../output.ts'
import { deliveryText } from '../delivery-text.ts'
import { more } from '../text/more.ts'
import { STATES, type DeliveryState } from '../text/state.ts'
import { style } from '../text/style.ts'
import { fields } from '../text/table.ts'

type FilterOptions = { readonly state?: DeliveryState; readonly destination?: string; readonly event?: string }
type Listed = RouteAnswer<Routes['deliveries']['list']>

const EXAMPLE_ID = 'dlv_01m7yttq4ye5ks3w8pq6gbnadt'

export function addDeliveries(program: Command): void {
  const deliveries = program.command('deliveries').summary('list deliveries, show one, send one again').description('What was sent to destinations, and how it went.')
  const list = deliveries
    .command('list')
    .summary('list deliveries').description('Lists the deliveries, newest first.')
    .addOption(new Option('--state <state>', 'only those in this state').choices(STATES))
    .option('--destination <destination>', 'only those to this destination: id or name')
    .option('--event <event>', 'only those of this event (rec_…)')
    .action(listDeliveries)
  withExample(withList(list), 'deliveries list --state failed', 'deliveries list --destination billing')

  const get = deliveries
    .command('get')
    .argument('<delivery>', 'the id of the delivery (dlv_…)')
    .summary('show a delivery and every attempt')
    .description('Shows a delivery with every attempt and what the destination answered.')
    .action(getDelivery)
  withExample(withCommon(get), `deliveries get ${EXAMPLE_ID}`)

  const replay = deliveries
    .command('replay')
    .argument('<delivery>', 'the id of the delivery (dlv_…)')
    .summary('send an ended delivery again')
    .description('Sends a delivery that has ended again, now, with the same body and event id.')
    .action(replayDelivery)
  withExample(withCommon(replay), `deliveries replay ${EXAMPLE_ID}`)
}

async function listDeliveries({ limit, cursor, state, destination, event, ...options }: ListOptions & FilterOptions): Promise<void> {
  const { client } = await connect(options)
  const destination_id = destination === undefined ? undefined : await destinationId(client, destination)
  const answer = await client.deliveries.list({ limit, cursor, state, destination_id, record_id: event })
  const people = options.json !== true && options.quiet !== true && answer.deliveries.length > 0
  const names = people ? await destinationNames(client) : new Map<string, string>()
  const ids = answer.deliveries.map(({ id }) => id)
  const filtered = state !== undefined || destination !== undefined || event !== undefined
  print({ json: answer, ids, text: () => (ids.length === 0 ? noneText(filtered) : listText(answer, names)) }, options)
}

async function destinationId(client: Client, named: string): Promise<string> {
  if (named.startsWith('dst_')) return named
  for (const [id, name] of await destinationNames(client)) if (name === named) return id
  throw new Failure(`There is no destination "${named}" here. See ${invokedAs()} destinations list.`, EXIT.notFound)
}

function noneText(filtered: boolean): string {
  return filtered ? 'No delivery is like that.' : `There are no deliveries here. They begin with a destination: ${invokedAs()} destinations create https://…`
}

function listText(answer: Listed, names: ReadonlyMap<string, string>): string {
  return [deliveriesTable(answer.deliveries, { names }), ...more(answer.next_cursor)].join('\n')
}

async function getDelivery(id: string, options: CommonOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.deliveries.get({ id })
  const { delivery } = answer
  const names = options.json === true || options.quiet === true ? new Map<string, string>() : await destinationNames(client)
  const name = names.get(delivery.destination_id)
  print({ json: answer, ids: [delivery.id], text: () => deliveryText(delivery, { name, next: invokedAs() }) }, options)
}

async function replayDelivery(id: string, options: CommonOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.deliveries.replay({ id })
  print({ json: answer, ids: [answer.delivery.id], text: () => replayedText(answer) }, options)
}

function replayedText({ delivery }: RouteAnswer<Routes['deliveries']['replay']>): string {
  return fields([
    ['Again', `${delivery.id}  ${style.dim('as one more attempt')}`],
    ['Next', `${invokedAs()} deliveries get ${delivery.id}`],
  ])
}
