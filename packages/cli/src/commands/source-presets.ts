import type { RouteAnswer, Routes, SourcePreset } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { EXIT, Failure } from '../failure.ts'
import { invokedAs, withExample, withWorkspace, type CommonOptions } from '../options.ts'
import { print } from '../output.ts'
import { plain } from '../text/plain.ts'
import { style } from '../text/style.ts'
import { fields, table } from '../text/table.ts'

type Listed = RouteAnswer<Routes['sourcePresets']['list']>

export function addSourcePresets(program: Command): void {
  const presets = program
    .command('source-presets')
    .summary('list the providers that endpoints can be set up for')
    .description('The providers that the server has settings for: how they sign, and the steps at the provider.')
  const list = presets
    .command('list')
    .argument('[search]', 'a part of the name or of the header')
    .summary('list source presets')
    .description('Lists the presets by name.')
    .action(listPresets)
  withExample(withWorkspace(list), 'source-presets list', 'source-presets list x-hub')

  const get = presets
    .command('get')
    .argument('<preset>', 'id of the preset')
    .summary('show a source preset and its steps')
    .description('Shows how a provider signs, and the steps at the provider. Add --json for every setting.')
    .action(getPreset)
  withExample(withWorkspace(get), 'source-presets get github')
}

async function listPresets(search: string | undefined, options: CommonOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.sourcePresets.list()
  const word = (search ?? '').toLowerCase()
  const source_presets = answer.source_presets.filter(({ id, name, signature_header }) =>
    `${id} ${name} ${signature_header}`.toLowerCase().includes(word),
  )
  print(
    { json: { source_presets }, ids: source_presets.map(({ id }) => id), text: () => listText(source_presets) },
    options,
  )
}

function listText(presets: Listed['source_presets']): string {
  if (presets.length === 0) return `No preset has this in its name or header. See ${invokedAs()} source-presets list.`
  return table([
    { head: 'Preset', cells: presets.map(({ id }) => id) },
    { head: 'Name', cells: presets.map(({ name }) => name), least: 10 },
    { head: 'Scheme', cells: presets.map(({ settings }) => settings.verification.scheme) },
    { head: 'Header', cells: presets.map(({ signature_header }) => signature_header), least: 12, spare: true },
  ])
}

async function getPreset(id: string, options: CommonOptions): Promise<void> {
  const { client } = await connect(options)
  const preset = await presetNamed(client, id)
  print({ json: { source_preset: preset }, ids: [preset.id], text: () => presetText(preset) }, options)
}

/** The preset of this id, or a failure that names the command to list them. */
export async function presetNamed(client: Client, id: string): Promise<SourcePreset> {
  const { source_presets } = await client.sourcePresets.list()
  const preset = source_presets.find((one) => one.id === id)
  if (preset !== undefined) return preset
  throw new Failure(`There is no source preset "${id}". See ${invokedAs()} source-presets list.`, EXIT.notFound)
}

function presetText({ id, name, docs_url, signature_header, secret, setup, settings }: SourcePreset): string {
  const { verification, idempotency, handshake, response, body_as, split } = settings
  const facts = fields([
    ['Preset', `${id}  ${plain(name)}`],
    ['Scheme', verification.scheme],
    ['Header', signature_header],
    ...('signed' in verification ? [['Signed', verification.signed] as const] : []),
    ['Secret', plain(secret)],
    ...(idempotency === null
      ? []
      : [['Repeats', 'header' in idempotency ? `header ${idempotency.header}` : `path ${idempotency.path}`] as const]),
    ...(handshake.kind === 'none' ? [] : [['Handshake', handshake.kind] as const]),
    ...(body_as === 'contract' ? [] : [['Body', body_as] as const]),
    ...(split === null
      ? []
      : [['Events', split === 'lines' ? 'each line' : `each item of ${split.path || 'the list'}`] as const]),
    ...(response === null ? [] : [['Response', plain(`${response.status} ${response.body}`.trim())] as const]),
  ])
  const steps = setup.flatMap((step, at) => numbered(at + 1, plain(step)))
  const next = `${invokedAs()} endpoints create NAME --preset ${id} --without-secret`
  return [facts, '', 'At the provider:', ...steps, style.dim(docs_url), '', `Create the endpoint:\n  ${next}`].join(
    '\n',
  )
}

const COLUMNS = 76

/** A step under its number, in lines that fit a terminal. */
function numbered(number: number, step: string): readonly string[] {
  const lines: string[] = []
  for (const word of step.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > COLUMNS) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines.map((line, at) => (at === 0 ? ` ${number}. ${line}` : `    ${line}`))
}
