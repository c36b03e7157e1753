import { text as textOf } from 'node:stream/consumers'
import { VERIFICATION_SCHEMES, type RouteAnswer, type RouteRequest, type Routes } from '@postroad/contract'
import { Option, type Command } from 'commander'
import { connect } from '../connection.ts'
import { endpointText } from '../endpoint-text.ts'
import { EXIT, Failure } from '../failure.ts'
import { io } from '../io.ts'
import { withCommon, withExample, type CommonOptions } from '../options.ts'
import { print } from '../output.ts'
import { style } from '../text/style.ts'
import { confirmDeletion, withYes, type ConfirmOptions } from './confirm.ts'
import { changedMembers, membersOf, type SwitchOptions } from './members.ts'
import { endpointId } from './rotate.ts'

type SettingOptions = CommonOptions &
  SwitchOptions & {
    readonly name?: string
    readonly slug?: string
    readonly dataset?: string
    readonly scheme?: string
    readonly secretStdin?: true
    readonly withoutSecret?: true
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
    withSettings(create).option(
      '--without-secret',
      'set the secret of the scheme later; until then refuse every event',
    ),
    'endpoints create GitHub --scheme code_host --secret-stdin < key.txt',
    'endpoints create Orders -d @settings.json',
  )

  const edit = endpoints
    .command('edit')
    .argument('<endpoint>', 'slug or id of the endpoint')
    .summary('change the settings of an endpoint')
    .description('Changes the settings that you name. The others stay as they are.')
    .option('--name <name>', 'new name')
    .option('--on', 'switch it on')
    .option('--off', 'switch it off; every event is refused')
    .action(editEndpoint)
  withExample(withSettings(edit), 'endpoints edit github --off', 'endpoints edit github --dataset pushes')

  const remove = endpoints
    .command('delete')
    .argument('<endpoint>', 'slug or id of the endpoint')
    .summary('delete an endpoint')
    .description('Deletes an endpoint. Its URL answers 404 from then on. What it received stays.')
    .action(deleteEndpoint)
  withExample(withYes(withCommon(remove)), 'endpoints delete github --yes')
}

function withSettings(command: Command): Command {
  return withCommon(
    command
      .option('--slug <slug>', 'readable name for URLs with an ingest key')
      .option('--dataset <dataset>', 'dataset that it files events in')
      .addOption(new Option('--scheme <scheme>', 'how its senders sign').choices(VERIFICATION_SCHEMES))
      .option('--secret-stdin', 'read the secret of the scheme from stdin')
      .option('-d, --data <json>', 'more members as in the API: JSON, @file, or - for stdin'),
  )
}

/** The members that the options name. */
async function namedIn({ name, slug, dataset, scheme, ...secret }: SettingOptions): Promise<Record<string, unknown>> {
  const verification = scheme === undefined ? undefined : { scheme, ...(await secretOf(secret)) }
  return { name, slug, dataset, verification }
}

function checkStdin({ scheme, secretStdin, withoutSecret, data }: SettingOptions): void {
  if (scheme === undefined && (secretStdin === true || withoutSecret === true))
    throw new Failure('A secret needs the scheme that it is for: add --scheme.', EXIT.usage)
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
  const members = await membersOf(options, await namedIn({ ...options, name }))
  const { client } = await connect(options)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server checks what the person wrote and names what is wrong
  show(await client.webhooks.create(members as RouteRequest<Routes['webhooks']['create']>), options)
}

async function editEndpoint(named: string, options: SettingOptions): Promise<void> {
  checkStdin(options)
  const members = await changedMembers(options, await namedIn(options))
  const { client } = await connect(options)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  const request = { ...members, id: await endpointId(client, named) } as RouteRequest<Routes['webhooks']['update']>
  show(await client.webhooks.update(request), options)
}

async function deleteEndpoint(named: string, options: CommonOptions & ConfirmOptions): Promise<void> {
  const { client } = await connect(options)
  const id = await endpointId(client, named)
  await confirmDeletion(`This deletes the endpoint ${named}. Its URL answers 404 from then on.`, options)
  const answer = await client.webhooks.remove({ id })
  print({ json: answer, ids: [id], text: () => `Deleted ${id}. ${style.dim('What it received stays.')}` }, options)
}
