import type { RouteAnswer, RouteRequest, Routes } from '@postroad/contract'
import { destinationLight } from '@postroad/contract/lights'
import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { collected, withCommon, withExample, type CommonOptions } from '../options.ts'
import { print } from '../output.ts'
import { plain } from '../text/plain.ts'
import { lightText } from '../text/state.ts'
import { fields } from '../text/table.ts'
import { changedMembers, type SwitchOptions } from './members.ts'
import { destinationId } from './recover.ts'

type Shown = RouteAnswer<Routes['destinations']['get']>
type EditOptions = CommonOptions &
  SwitchOptions & {
    readonly name?: string
    readonly to?: string
    readonly dataset?: readonly string[]
  }

export function addDestinationEdits(destinations: Command): void {
  const get = destinations
    .command('get')
    .argument('<destination>', 'id or name of the destination')
    .summary('show a destination')
    .description('Shows a destination. Add --json for every setting.')
    .action(getDestination)
  withExample(withCommon(get), 'destinations get billing')

  const update = destinations
    .command('update')
    .alias('edit')
    .argument('<destination>', 'id or name of the destination')
    .summary('change the settings of a destination')
    .description('Changes the settings that you name. Other settings do not change.')
    .option('--name <name>', 'new name')
    .option('--to <url>', 'deliver to this URL')
    .option('--dataset <dataset>', 'only the events of this dataset; may be repeated', collected)
    .option('--on', 'turn it on, and send what is paused')
    .option('--off', 'turn it off, and pause its deliveries')
    .option('-d, --data <json>', 'other fields, as in the API: JSON, @file, or - for stdin')
    .action(editDestination)
  withExample(
    withCommon(update),
    'destinations update billing --off',
    `destinations update billing -d '{"timeout_ms":5000}'`,
  )
}

function show(answer: Shown, options: CommonOptions): void {
  print({ json: answer, ids: [answer.destination.id], text: () => destinationText(answer) }, options)
}

function destinationText({ destination }: Shown): string {
  const { id, name, url, datasets, conditions, ordering } = destination
  return fields([
    ['Destination', `${id}  ${plain(name)}`],
    ['State', lightText(destinationLight(destination))],
    ['Delivers to', plain(url)],
    ['Datasets', datasets === null ? 'all' : datasets.join(', ')],
    ...(conditions.length === 0 ? [] : [['Conditions', plain(JSON.stringify(conditions))] as const]),
    ...(ordering === 'none' ? [] : [['Order', `by ${plain(ordering.path)}`] as const]),
  ])
}

async function getDestination(named: string, options: CommonOptions): Promise<void> {
  const { client } = await connect(options)
  show(await client.destinations.get({ id: await destinationId(client, named) }), options)
}

async function editDestination(named: string, options: EditOptions): Promise<void> {
  const { name, to, dataset } = options
  const members = await changedMembers(options, { name, url: to, datasets: dataset })
  const { client } = await connect(options)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server checks the input and names the mistake
  const request = { ...members, id: await destinationId(client, named) } as RouteRequest<
    Routes['destinations']['update']
  >
  show(await client.destinations.update(request), options)
}
