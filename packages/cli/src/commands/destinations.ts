import type { RouteAnswer, RouteRequest, Routes } from '@postroad/contract'
import { destinationLight } from '@postroad/contract/lights'
import type { Command } from 'commander'
import { connect } from '../connection.ts'
import {
  collected,
  invokedAs,
  withCommon,
  withExample,
  withList,
  type CommonOptions,
  type ListOptions,
} from '../options.ts'
import { print } from '../output.ts'
import { readMembers } from '../send/data.ts'
import { more } from '../text/more.ts'
import { plain } from '../text/plain.ts'
import { lightStyle, lightText } from '../text/state.ts'
import { style } from '../text/style.ts'
import { fields, table } from '../text/table.ts'
import { addDestinationEdits } from './destination-edits.ts'
import { addRecover } from './recover.ts'

type Created = RouteAnswer<Routes['destinations']['create']>
type CreateOptions = CommonOptions & {
  readonly name?: string
  readonly dataset?: readonly string[]
  readonly orderBy?: string
  readonly data?: string
}

export function addDestinations(program: Command): void {
  const destinations = program
    .command('destinations')
    .summary('list, create, update, test and recover destinations')
    .description('The URLs that events are delivered to.')
  const list = destinations
    .command('list')
    .summary('list destinations')
    .description('Lists the destinations, newest first.')
    .action(listDestinations)
  withExample(withList(list), 'destinations list')

  const create = destinations
    .command('create')
    .argument('<destination-url>', 'the URL to deliver to: https, or http to this machine')
    .summary('deliver new events to a URL')
    .description('Delivers every new event to a URL, signed and retried. The signing secret is shown only once.')
    .option('--name <name>', 'name (without it, the host of the URL)')
    .option('--dataset <dataset>', 'only the events of this dataset; may be repeated', collected)
    .option(
      '--order-by <path>',
      'deliver events with the same value at this path in order, one at a time. This is slower, and a failing event blocks later ones',
    )
    .option('-d, --data <json>', 'other fields, as in the API: JSON, @file, or - for stdin')
    .action(createDestination)
  withExample(
    withCommon(create),
    'destinations create https://example.com/hooks --order-by customer.id',
    `destinations create http://127.0.0.1:3000/ -d '{"timeout_ms":5000}'`,
  )
  addDestinationEdits(destinations)
  addRecover(destinations)
}

async function listDestinations({ limit, cursor, ...options }: ListOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.destinations.list({ limit, cursor })
  print({ json: answer, ids: answer.destinations.map(({ id }) => id), text: () => listText(answer) }, options)
}

function listText({ destinations, next_cursor }: RouteAnswer<Routes['destinations']['list']>): string {
  if (destinations.length === 0)
    return `There are no destinations here. Create one: ${invokedAs()} destinations create https://…`
  const lights = destinations.map(destinationLight)
  const rows = table([
    {
      head: 'State',
      cells: lights.map(lightText),
      paint: (cell, row) => {
        const light = lights[row]
        return light === undefined ? cell : lightStyle(light)(cell)
      },
    },
    { head: 'Destination', cells: destinations.map(({ id }) => id) },
    { head: 'Name', cells: destinations.map(({ name }) => name), least: 10 },
    { head: 'URL', cells: destinations.map(({ url }) => url), least: 24 },
    {
      head: 'Datasets',
      cells: destinations.map(({ datasets }) => datasets?.join(', ') ?? 'all'),
      least: 8,
      spare: true,
    },
  ])
  return [rows, ...more(next_cursor)].join('\n')
}

async function createDestination(
  url: string,
  { name, dataset, orderBy, data, ...options }: CreateOptions,
): Promise<void> {
  const given = await readMembers(data)
  const { client } = await connect(options)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server checks the input and names the mistake
  const request = {
    name: hostOf(url),
    ...given,
    url,
    ...(name === undefined ? {} : { name }),
    ...(dataset === undefined ? {} : { datasets: dataset }),
    ...(orderBy === undefined ? {} : { ordering: { path: orderBy } }),
  } as RouteRequest<Routes['destinations']['create']>
  const answer = await client.destinations.create(request)
  print({ json: answer, ids: [answer.destination.id], text: () => createdText(answer) }, options)
}

function createdText({ destination, signing_secret }: Created): string {
  const { id, name, url, datasets, ordering } = destination
  return fields([
    ['Destination', `${id}  ${plain(name)}`],
    ['Delivers to', plain(url)],
    ['Datasets', datasets === null ? 'all' : datasets.join(', ')],
    ...(ordering === 'none' ? [] : [['Order', `by ${plain(ordering.path)}`] as const]),
    ['Secret', `${signing_secret}  ${style.dim('shown only once')}`],
    ['Next', `${invokedAs()} send`],
  ])
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}
