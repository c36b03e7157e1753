import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Command } from 'commander'
import type { Client } from '@postroad/sdk'
import { connect } from '../connection.ts'
import { deliveriesTable, destinationNames, type Names } from '../deliveries-table.ts'
import { invokedAs, withCommon, withExample, withList, type CommonOptions, type ListOptions } from '../options.ts'
import { print } from '../output.ts'
import { indentJson } from '../text/indent-json.ts'
import { more } from '../text/more.ts'
import { plainLines } from '../text/plain.ts'
import { style } from '../text/style.ts'
import { fields, table } from '../text/table.ts'
import { listMoment, moment } from '../text/time.ts'

type Event = RouteAnswer<Routes['records']['get']>['record']
type Deliveries = RouteAnswer<Routes['deliveries']['list']>

const DELIVERIES_MAX = 200

export function addEvents(program: Command): void {
  const events = program
    .command('events')
    .summary('list events, or show one')
    .description('The events that were received and filed (the records of the API).')
  const list = events
    .command('list')
    .summary('list events')
    .description('Lists the events, newest first.')
    .option('--dataset <dataset>', 'only the events of this dataset')
    .action(listEvents)
  withExample(withList(list), 'events list --dataset events')

  const get = events
    .command('get')
    .argument('<event>', 'the id of the event (rec_…)')
    .summary('show an event and its deliveries')
    .description('Shows an event as it was received, and its deliveries.')
    .action(getEvent)
  withExample(withCommon(get), 'events get rec_01m7ys72kve0fb1zmh4gjtmv5x')
}

async function listEvents({
  limit,
  cursor,
  dataset,
  ...options
}: ListOptions & { readonly dataset?: string }): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.records.list({ limit, cursor, dataset })
  print({ json: answer, ids: answer.records.map(({ id }) => id), text: () => listText(answer) }, options)
}

function listText({ records, next_cursor }: RouteAnswer<Routes['records']['list']>): string {
  if (records.length === 0) return `There are no events here. Send one: ${invokedAs()} send`
  const rows = table([
    { head: 'Received (UTC)', cells: records.map(({ received_at }) => listMoment(received_at)), paint: style.dim },
    { head: 'Event', cells: records.map(({ id }) => id) },
    { head: 'Dataset', cells: records.map(({ dataset }) => dataset), least: 10 },
    { head: 'Data', cells: records.map(({ data }) => JSON.stringify(data)), least: 12 },
  ])
  return [rows, ...more(next_cursor)].join('\n')
}

async function getEvent(id: string, options: CommonOptions): Promise<void> {
  const { client } = await connect(options)
  const { record } = await client.records.get({ id })
  const deliveries = await client.deliveries.list({ record_id: id, limit: DELIVERIES_MAX })
  const names = await namesFor(client, deliveries, options)
  print(
    { json: { record, ...deliveries }, ids: [record.id], text: () => eventText(record, deliveries, names) },
    options,
  )
}

async function namesFor(client: Client, { deliveries }: Deliveries, { json, quiet }: CommonOptions): Promise<Names> {
  return json === true || quiet === true || deliveries.length === 0 ? new Map() : destinationNames(client)
}

function eventText(record: Event, { deliveries, next_cursor }: Deliveries, names: Names): string {
  const head = fields([
    ['Event', `${style.strong(record.id)}  ${style.dim(`in ${record.dataset}`)}`],
    ['Received', moment(record.received_at)],
    ['Submission', record.submission_id],
  ])
  const none = `It has no deliveries. Create a destination for the next events: ${invokedAs()} destinations create https://…`
  const below =
    deliveries.length === 0 ? none : [deliveriesTable(deliveries, { names }), ...more(next_cursor)].join('\n')
  return [head, plainLines(indentJson(record.data_text)), below].join('\n\n')
}
