import { once } from 'node:events'
import { open, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import { Option, type Command } from 'commander'
import { connect } from '../connection.ts'
import { EXIT, Failure } from '../failure.ts'
import { io } from '../io.ts'
import { timeOf, withCommon, withExample, type CommonOptions } from '../options.ts'
import { print } from '../output.ts'
import { mayBecome } from '../output-file.ts'
import { idIn } from '../rooms/lookup.ts'
import { style } from '../text/style.ts'
import { fields, table } from '../text/table.ts'
import { dayMoment } from '../text/time.ts'

const FORMATS = ['ndjson', 'csv', 'parquet'] as const

type Options = CommonOptions & {
  readonly format: (typeof FORMATS)[number]
  readonly output?: string
  readonly from?: string
  readonly to?: string
  readonly columns?: string
}

type Schema = RouteAnswer<Routes['datasetSchemas']['get']>['schema']

export function addDatasets(program: Command): void {
  const datasets = program
    .command('datasets')
    .summary('work with datasets')
    .description('Datasets: named sets of records, with their schema and retention.')
  const schema = datasets
    .command('schema')
    .argument('<dataset>', 'id or name of the dataset')
    .summary('show the fields of a dataset, and how they changed')
    .description('Shows the fields that the records of a dataset have, learned from a sample, and the newest changes.')
    .action(showSchema)
  withExample(withCommon(schema), 'datasets schema orders')
  const command = datasets
    .command('export')
    .argument('<dataset>', 'id or name of the dataset')
    .summary('write all records of a dataset to a file')
    .description(
      'Writes the records of a dataset, oldest first. Without --output they go to stdout, for another program.',
    )
    .addOption(new Option('--format <format>', 'the file format').choices(FORMATS).default('ndjson'))
    .option('-o, --output <file>', 'the file to write')
    .option('--from <time>', 'only records from this time on', timeOf)
    .option('--to <time>', 'only records from before this time', timeOf)
    .option('--columns <paths>', 'for csv and parquet: dot paths, separated by commas')
    .action(exportDataset)
  withExample(
    withCommon(command),
    'datasets export orders --format parquet --output orders.parquet',
    'datasets export orders --from 2h | jq .data.total',
  )
}

async function exportDataset(dataset: string, { format, output, columns, ...options }: Options): Promise<void> {
  if (output !== undefined) await mayBecome(resolve(output))
  else if (format === 'parquet' && io().stdout.isTTY === true)
    throw new Failure('Parquet is a binary format and cannot be printed. Name a file with --output.', EXIT.usage)
  if (format === 'ndjson' && columns !== undefined)
    throw new Failure('--columns works only with csv and parquet, because ndjson contains whole records.', EXIT.usage)
  const { client } = await connect(options)
  const id = await idIn(client, 'datasets', dataset)
  const chunks = await chunksOf(client, format, { id, from: options.from, to: options.to, columns })
  if (output === undefined) {
    for await (const chunk of chunks) await write(chunk)
    return
  }
  const file = resolve(output)
  const bytes = await save(chunks, file)
  const text = (): string =>
    fields([
      ['Dataset', dataset],
      ['Bytes', String(bytes)],
      ['File', file],
    ])
  print({ json: { dataset: id, bytes, file }, ids: [id], text }, options)
}

async function showSchema(dataset: string, options: CommonOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.datasetSchemas.get({ id: await idIn(client, 'datasets', dataset) })
  print(
    { json: answer, ids: answer.schema.fields.map(({ path }) => path), text: () => schemaText(answer.schema) },
    options,
  )
}

function schemaText({ records_read: read, complete, fields: found, drifts }: Schema): string {
  if (read === 0) return 'This dataset has no records yet, so it has no fields.'
  const rows = table([
    { head: 'Field', cells: found.map(({ path }) => path), least: 16 },
    { head: 'Types', cells: found.map(({ types }) => types.map(({ type }) => type).join(', ')), least: 8 },
    { head: 'Present', cells: found.map(presenceText), align: 'right' },
    { head: 'First seen (UTC)', cells: found.map((field) => dayMoment(field.first_seen_at)), spare: true },
    { head: 'Last seen (UTC)', cells: found.map((field) => dayMoment(field.last_seen_at)), spare: true },
  ])
  const changes = table([
    { head: 'Change', cells: drifts.map(({ kind }) => kind.replace('_', ' ')) },
    { head: 'Field', cells: drifts.map(({ path }) => path), least: 16 },
    { head: 'Type', cells: drifts.map(({ type }) => type ?? '') },
    { head: 'When (UTC)', cells: drifts.map(({ at }) => dayMoment(at)) },
    { head: 'Record', cells: drifts.map((drift) => drift.record_id), spare: true },
  ])
  return [
    rows,
    ...(drifts.length === 0 ? [] : [changes]),
    style.dim(`From ${read} ${read === 1 ? 'record' : 'records'}${complete ? '' : '; more fields than are listed'}.`),
  ].join('\n\n')
}

const presenceText = ({ presence, gone_at }: Schema['fields'][number]): string =>
  gone_at === null ? `${Math.round(presence * 1_000) / 10} %` : 'gone'

type Asked = { id: string; from: string | undefined; to: string | undefined; columns: string | undefined }

// oxlint-disable-next-line max-params -- the client, and one call of it
async function chunksOf(
  client: Client,
  format: Options['format'],
  { columns, ...asked }: Asked,
): Promise<AsyncIterable<string | Uint8Array>> {
  switch (format) {
    case 'ndjson':
      return client.datasetExports.ndjson(asked)
    case 'csv':
      return client.datasetExports.csv({ ...asked, columns })
    case 'parquet':
      return client.datasetExports.parquet({ ...asked, columns })
  }
}

/** Writes to a file beside it first, so that a file with this name is always complete. Returns the number of bytes. */
async function save(chunks: AsyncIterable<string | Uint8Array>, file: string): Promise<number> {
  const part = `${file}.part`
  const handle = await open(part, 'w')
  let bytes = 0
  try {
    for await (const chunk of chunks) {
      await handle.appendFile(chunk)
      bytes += Buffer.byteLength(chunk)
    }
  } catch (error) {
    await handle.close()
    await rm(part, { force: true })
    throw error
  }
  await handle.close()
  await rename(part, file)
  return bytes
}

/** Writes no faster than the reader reads. */
async function write(chunk: string | Uint8Array): Promise<void> {
  const { stdout } = io()
  if (!stdout.write(chunk)) await once(stdout, 'drain')
}
