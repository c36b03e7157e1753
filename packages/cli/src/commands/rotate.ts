import { text as textOf } from 'node:stream/consumers'
import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import { InvalidArgumentError, type Command } from 'commander'
import { agrees, canAsk } from '../ask.ts'
import { connect } from '../connection.ts'
import { EXIT, Failure } from '../failure.ts'
import { io } from '../io.ts'
import { invokedAs, withCommon, withExample, withList, type CommonOptions, type ListOptions } from '../options.ts'
import { print } from '../output.ts'
import { more } from '../text/more.ts'
import { plain } from '../text/plain.ts'
import { style } from '../text/style.ts'
import { fields, table } from '../text/table.ts'
import { dayMoment, moment } from '../text/time.ts'

type Rotated = RouteAnswer<Routes['webhooks']['rotate']>
type SecretRotated = RouteAnswer<Routes['webhooks']['rotateVerificationSecret']>
type Versions = RouteAnswer<Routes['webhooks']['listVersions']>
const HOUR_MS = 3_600_000

type OverlapOptions = CommonOptions & {
  readonly overlap: number
  readonly endOverlap?: boolean
  readonly yes?: boolean
}

/** A new URL, a new secret, and what was changed when. */
export function addRotate(endpoints: Command): void {
  const rotate = endpoints
    .command('rotate')
    .argument('<endpoint>', 'slug or id of the endpoint')
    .summary('give an endpoint a new URL')
    .description(
      'Gives an endpoint a new URL. The previous URL continues to work for the overlap, then ends.\nAn endpoint has one previous URL at most. While that one still works, the command\nrefuses to end it without --end-overlap.',
    )
    .option('--overlap <hours>', 'how long the previous URL continues to work: 0 to 720 hours', hoursOf, 24)
    .option('--end-overlap', 'end the overlap of an earlier rotation, if one is running')
    .option('-y, --yes', 'do not ask')
    .action(rotateUrl)
  withExample(withCommon(rotate), 'endpoints rotate first --overlap 48')

  const secret = endpoints
    .command('rotate-secret')
    .argument('<endpoint>', 'slug or id of the endpoint')
    .summary('replace the verification secret of an endpoint')
    .description(
      'Replaces the verification secret. The previous one continues to verify for the\noverlap. While that one still verifies, the command refuses to end it without\n--end-overlap. Without --secret-stdin the server mints a secret and shows it once.',
    )
    .option('--overlap <hours>', 'how long the previous secret continues to verify: 0 to 720 hours', hoursOf, 24)
    .option('--end-overlap', 'end the overlap of an earlier rotation, if one is running')
    .option('-y, --yes', 'do not ask')
    .option('--secret-stdin', 'read the new secret from stdin, as the sender gave it')
    .action(rotateSecret)
  withExample(
    withCommon(secret),
    'endpoints rotate-secret first',
    'endpoints rotate-secret first --secret-stdin < secret.txt',
  )

  const versions = endpoints
    .command('versions')
    .argument('<endpoint>', 'slug or id of the endpoint')
    .summary('list the changes of an endpoint')
    .description('Lists the versions of the settings of an endpoint, newest first.')
    .action(listVersions)
  withExample(withList(versions), 'endpoints versions first')
}

function hoursOf(text: string): number {
  const hours = Number(text)
  if (!/^\d+$/.test(text) || hours > 720) throw new InvalidArgumentError('It is a whole number of hours from 0 to 720.')
  return hours
}

/** By its id, or looked up by its slug. */
export async function endpointId(client: Client, named: string): Promise<string> {
  if (named.startsWith('whk_')) return named
  for await (const { id, slug } of client.webhooks.list({ limit: 200 })) if (slug === named) return id
  throw new Failure(`There is no endpoint "${named}" here. See ${invokedAs()} endpoints list.`, EXIT.notFound)
}

type Rotation = {
  /** `URL` or `secret`. */
  readonly what: string
  readonly overlap: number
  /** When the previous one of an earlier rotation ends; null: there is none. */
  readonly until: string | null
  readonly endOverlap: boolean
  readonly yes: boolean
}

/** Says what ends when, and asks whether to go on. In a script nobody can answer; there the server still protects a running overlap. */
async function agreeTo({ what, overlap, until, endOverlap, yes }: Rotation): Promise<void> {
  // The server refuses this one; there is nothing to agree to.
  if (until !== null && !endOverlap) return
  if (yes || !canAsk()) return
  const current =
    overlap === 0
      ? `The current ${what} ends at once. Requests that use it are refused from then on.`
      : `The current ${what} continues to work until ${moment(new Date(Date.now() + overlap * HOUR_MS).toISOString())}.`
  const previous =
    until === null ? [] : [`The previous ${what}, which would work until ${moment(until)}, ends at once.`]
  if (!(await agrees([current, ...previous].join('\n'), `Rotate the ${what}?`)))
    throw new Failure('Nothing was changed.')
}

async function rotateUrl(
  named: string,
  { overlap, endOverlap = false, yes = false, ...options }: OverlapOptions,
): Promise<void> {
  const { client } = await connect(options)
  const { webhook } = await client.webhooks.get({ id: await endpointId(client, named) })
  await agreeTo({ what: 'URL', overlap, until: webhook.previous_url_expires_at, endOverlap, yes })
  const answer = await client.webhooks.rotate({ id: webhook.id, overlap_hours: overlap, end_overlap: endOverlap })
  print({ json: answer, ids: [answer.id], text: () => rotatedText(answer) }, options)
}

/** A URL is useless when it is cut, so each has a line of its own. */
function rotatedText({ public_url, previous_public_url, previous_url_expires_at }: Rotated): string {
  const previous =
    previous_public_url === null || previous_url_expires_at === null
      ? 'The previous URL has ended.'
      : `The previous URL works until ${moment(previous_url_expires_at)}.`
  return `${style.strong('The new URL')}\n${plain(public_url)}\n${previous}`
}

async function rotateSecret(
  named: string,
  {
    overlap,
    endOverlap = false,
    yes = false,
    secretStdin,
    ...options
  }: OverlapOptions & { readonly secretStdin?: true },
): Promise<void> {
  const { client } = await connect(options)
  const secret = secretStdin === true ? (await textOf(io().stdin)).trim() : undefined
  const { webhook } = await client.webhooks.get({ id: await endpointId(client, named) })
  const until = webhook.verification.previous_secret_expires_at ?? null
  // With --secret-stdin the input is the secret, so it cannot hold an answer too.
  await agreeTo({ what: 'secret', overlap, until, endOverlap, yes: yes || secretStdin === true })
  const answer = await client.webhooks.rotateVerificationSecret({
    id: webhook.id,
    overlap_hours: overlap,
    end_overlap: endOverlap,
    secret,
  })
  print({ json: answer, ids: [answer.webhook.id], text: () => secretText(answer) }, options)
}

function secretText({ webhook, verification_secret }: SecretRotated): string {
  const { verification } = webhook
  const until = 'previous_secret_expires_at' in verification ? (verification.previous_secret_expires_at ?? null) : null
  return fields([
    ['Endpoint', `${webhook.id}  ${plain(webhook.name)}`],
    ...(verification_secret === undefined
      ? []
      : [['Secret', `${verification_secret}  ${style.dim('shown this once')}`] as const]),
    ['Previous one', until === null ? 'has ended' : `verifies until ${moment(until)}`],
  ])
}

async function listVersions(named: string, { limit, cursor, ...options }: ListOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.webhooks.listVersions({ id: await endpointId(client, named), limit, cursor })
  print(
    { json: answer, ids: answer.versions.map(({ version }) => String(version)), text: () => versionsText(answer) },
    options,
  )
}

function versionsText({ versions, next_cursor }: Versions): string {
  const rows = table([
    { head: 'Version', cells: versions.map(({ version }) => String(version)), align: 'right' },
    { head: 'Made (UTC)', cells: versions.map(({ created_at }) => dayMoment(created_at)), paint: style.dim },
    {
      head: 'Changed',
      cells: versions.map(({ changed, version, restored_from }) =>
        restored_from === null ? (version === 1 ? 'made' : changed.join(', ')) : `as version ${restored_from}`,
      ),
      least: 12,
    },
    { head: 'By', cells: versions.map(({ actor, agent }) => agent ?? actor), least: 8, spare: true },
  ])
  return [rows, ...more(next_cursor)].join('\n')
}
