import { text as textOf } from 'node:stream/consumers'
import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import type { Command } from 'commander'
import { agrees, canAsk } from '../ask.ts'
import { connect } from '../connection.ts'
import { EXIT, Failure } from '../failure.ts'
import { io } from '../io.ts'
import {
  invokedAs,
  numberIn,
  withCommon,
  withExample,
  withList,
  type CommonOptions,
  type ListOptions,
} from '../options.ts'
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

/** The commands for a new URL, a new secret, and the versions of the settings. */
export function addRotate(endpoints: Command): void {
  const rotate = endpoints
    .command('rotate')
    .argument('<endpoint>', 'slug or id of the endpoint')
    .summary('give an endpoint a new URL')
    .description(
      'Gives an endpoint a new URL. The previous URL continues to work during the overlap, then expires.\nAn endpoint has at most one previous URL. While an earlier one still works, the\ncommand refuses to end it without --end-overlap.',
    )
    .option('--overlap <hours>', 'how long the previous URL continues to work: 0 to 720 hours', numberIn(0, 720), 24)
    .option('--end-overlap', 'end the overlap of an earlier rotation, if one is running')
    .option('-y, --yes', 'do not ask')
    .action(rotateUrl)
  withExample(withCommon(rotate), 'endpoints rotate first --overlap 48')

  const secret = endpoints
    .command('rotate-secret')
    .argument('<endpoint>', 'slug or id of the endpoint')
    .summary('replace the verification secret of an endpoint')
    .description(
      'Replaces the verification secret. The previous one continues to work for the\noverlap. While an earlier one still works, the command refuses to end it without\n--end-overlap. Without --secret-stdin the server creates a secret and shows it once.',
    )
    .option('--overlap <hours>', 'how long the previous secret continues to work: 0 to 720 hours', numberIn(0, 720), 24)
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

/** Returns an id as it is, and looks up a slug. */
export async function endpointId(client: Client, named: string): Promise<string> {
  if (named.startsWith('whk_')) return named
  for await (const { id, slug } of client.webhooks.list({ limit: 200 })) if (slug === named) return id
  throw new Failure(`There is no endpoint "${named}" here. See ${invokedAs()} endpoints list.`, EXIT.notFound)
}

type Rotation = {
  /** `URL` or `secret`. */
  readonly what: string
  readonly overlap: number
  /** The time at which the previous one of an earlier rotation ends; null if there is none. */
  readonly until: string | null
  readonly endOverlap: boolean
  readonly yes: boolean
}

/** Shows when the current and the previous one end, and asks. A script cannot answer; the server still protects a running overlap. */
async function agreeTo({ what, overlap, until, endOverlap, yes }: Rotation): Promise<void> {
  // The server refuses this rotation, so there is nothing to ask.
  if (until !== null && !endOverlap) return
  if (yes || !canAsk()) return
  const current =
    overlap === 0
      ? `The current ${what} stops working immediately. Requests that use it are refused.`
      : `The current ${what} continues to work until ${moment(new Date(Date.now() + overlap * HOUR_MS).toISOString())}.`
  const previous =
    until === null ? [] : [`The previous ${what}, which is valid until ${moment(until)}, stops working immediately.`]
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

/** A truncated URL is useless, so each URL has a separate line. */
function rotatedText({ public_url, previous_public_url, previous_url_expires_at }: Rotated): string {
  const previous =
    previous_public_url === null || previous_url_expires_at === null
      ? 'The previous URL has expired.'
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
  // With --secret-stdin the input is the secret, so it cannot contain an answer too.
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
      : [['Secret', `${verification_secret}  ${style.dim('shown only once')}`] as const]),
    ['Previous one', until === null ? 'has ended' : `works until ${moment(until)}`],
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
    { head: 'Created (UTC)', cells: versions.map(({ created_at }) => dayMoment(created_at)), paint: style.dim },
    {
      head: 'Changed',
      cells: versions.map(({ changed, version, restored_from }) =>
        restored_from === null ? (version === 1 ? 'created' : changed.join(', ')) : `restored version ${restored_from}`,
      ),
      least: 12,
    },
    { head: 'By', cells: versions.map(({ actor, agent }) => agent ?? actor), least: 8, spare: true },
  ])
  return [rows, ...more(next_cursor)].join('\n')
}
