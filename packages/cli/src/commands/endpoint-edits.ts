import { text as textOf } from 'node:stream/consumers'
import type { RouteAnswer, RouteRequest, Routes } from '@postroad/contract'
import { verifyTokenNeed } from '@postroad/contract/handshake'
import { PRODUCTS_TEXT, VERIFICATION_SCHEMES } from '@postroad/contract/schemes'
import type { Client } from '@postroad/sdk'
import { Option, type Command } from 'commander'
import { connect } from '../connection.ts'
import { endpointText } from '../endpoint-text.ts'
import { EXIT, Failure } from '../failure.ts'
import { io } from '../io.ts'
import { withCommon, withExample, type CommonOptions } from '../options.ts'
import { print } from '../output.ts'
import { changedMembers, membersOf, type SwitchOptions } from './members.ts'
import { endpointId } from './rotate.ts'
import { presetNamed } from './source-presets.ts'

type SettingOptions = CommonOptions &
  SwitchOptions & {
    readonly name?: string
    readonly slug?: string
    readonly dataset?: string
    readonly scheme?: string
    readonly secretStdin?: true
    readonly withoutSecret?: true
    readonly preset?: string
  }

export function addEndpointEdits(endpoints: Command): void {
  const get = endpoints
    .command('get')
    .argument('<endpoint>', 'slug or id of the endpoint')
    .summary('show an endpoint')
    .description('Shows an endpoint with its URL. Add --json for every setting.')
    .action(getEndpoint)
  withExample(withCommon(get), 'endpoints get github')

  const create = endpoints
    .command('create')
    .argument('<name>', 'name of the endpoint')
    .summary('create an endpoint and print its URL')
    .description('Creates an endpoint and prints its URL.')
    .action(createEndpoint)
  withExample(
    withSettings(create)
      .option('--preset <preset>', 'take the settings of a provider (see source-presets list)')
      .option('--without-secret', 'set the secret of the scheme later; until then refuse every event'),
    'endpoints create GitHub --preset github --secret-stdin < key.txt',
    'endpoints create Partner --scheme hmac --without-secret',
    'endpoints create Orders -d @settings.json',
  )

  const update = endpoints
    .command('update')
    .alias('edit')
    .argument('<endpoint>', 'slug or id of the endpoint')
    .summary('change the settings of an endpoint')
    .description('Changes the settings that you name. Other settings do not change.')
    .option('--name <name>', 'new name')
    .option('--on', 'turn it on')
    .option('--off', 'turn it off, and refuse every event')
    .action(editEndpoint)
  withExample(withSettings(update), 'endpoints update github --off', 'endpoints update github --dataset pushes')
}

function withSettings(command: Command): Command {
  return withCommon(
    command
      .option('--slug <slug>', 'readable name for URLs with an ingest key')
      .option('--dataset <dataset>', 'dataset that it files events in')
      .addOption(
        new Option('--scheme <scheme>', `signature scheme of its senders (${PRODUCTS_TEXT})`).choices(
          VERIFICATION_SCHEMES,
        ),
      )
      .option('--secret-stdin', 'read the secret of the scheme from stdin')
      .option('-d, --data <json>', 'other fields, as in the API: JSON, @file, or - for stdin'),
  )
}

/** The members that the options set. */
async function namedIn({ name, slug, dataset, scheme, ...secret }: SettingOptions): Promise<Record<string, unknown>> {
  const verification = scheme === undefined ? undefined : { scheme, ...(await secretOf(secret)) }
  return { name, slug, dataset, verification }
}

function checkStdin({ scheme, preset, secretStdin, withoutSecret, data }: SettingOptions): void {
  if (scheme !== undefined && preset !== undefined)
    throw new Failure('Choose one of --preset and --scheme, because a preset has its scheme.', EXIT.usage)
  if (preset !== undefined && secretStdin !== true && withoutSecret !== true)
    throw new Failure('Add --secret-stdin, or --without-secret to set the secret later.', EXIT.usage)
  if (scheme === undefined && preset === undefined && (secretStdin === true || withoutSecret === true))
    throw new Failure('A secret belongs to a scheme: add --scheme.', EXIT.usage)
  if (secretStdin === true && data === '-')
    throw new Failure('Choose one of --secret-stdin and --data -, because both read stdin.', EXIT.usage)
}

async function secretOf({ secretStdin, withoutSecret }: SettingOptions): Promise<object> {
  if (secretStdin === true) return { secret: (await textOf(io().stdin)).trim() }
  return withoutSecret === true ? { without_secret: true } : {}
}

function show(answer: RouteAnswer<Routes['webhooks']['get']>, options: CommonOptions): void {
  print({ json: answer, ids: [answer.webhook.id], text: () => endpointText(answer.webhook) }, options)
}

async function getEndpoint(named: string, options: CommonOptions): Promise<void> {
  const { client } = await connect(options)
  show(await client.webhooks.get({ id: await endpointId(client, named) }), options)
}

async function createEndpoint(name: string, options: SettingOptions): Promise<void> {
  checkStdin(options)
  const named = await membersOf(options, await namedIn({ ...options, name }))
  const { client } = await connect(options)
  const members = options.preset === undefined ? named : { ...(await presetMembers(client, options)), ...named }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server checks the input and names the mistake
  show(await client.webhooks.create(members as RouteRequest<Routes['webhooks']['create']>), options)
}

/** The settings of a preset with the secret that the options name; a hub_challenge gets its token from --data. */
async function presetMembers(client: Client, { preset = '', data, ...secret }: SettingOptions): Promise<object> {
  const { settings } = await presetNamed(client, preset)
  if (verifyTokenNeed(settings.handshake) === 'required' && data === undefined)
    throw new Failure(
      `This provider asks for a verify token. Add --data '${JSON.stringify({ handshake: { ...settings.handshake, verify_token: '…' } })}'.`,
      EXIT.usage,
    )
  return { ...settings, verification: { ...settings.verification, ...(await secretOf(secret)) } }
}

async function editEndpoint(named: string, options: SettingOptions): Promise<void> {
  checkStdin(options)
  const members = await changedMembers(options, await namedIn(options))
  const { client } = await connect(options)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server checks the input and names the mistake
  const request = { ...members, id: await endpointId(client, named) } as RouteRequest<Routes['webhooks']['update']>
  show(await client.webhooks.update(request), options)
}
