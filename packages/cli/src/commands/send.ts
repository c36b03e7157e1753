import { Option, type Command } from 'commander'
import type { Accepted, RouteAnswer, Routes } from '@postroad/contract'
import { PRODUCTS_TEXT } from '@postroad/contract/schemes'
import type { Client } from '@postroad/sdk'
import { connect } from '../connection.ts'
import { EXIT, Failure } from '../failure.ts'
import { invokedAs, withCommon, withExample, type CommonOptions, type ConnectionOptions } from '../options.ts'
import { print } from '../output.ts'
import { readData } from '../send/data.ts'
import { postEvent } from '../send/post.ts'
import { sample, SAMPLES, type SampleName } from '../send/samples.ts'
import { sentText, type Decision } from '../send/sent-text.ts'
import {
  isSignedInBody,
  signatureHeaders,
  SIGNING_SCHEMES,
  type PrivateKeyScheme,
  type SigningScheme,
} from '../send/sign.ts'

type SendOptions = CommonOptions & {
  readonly data?: string
  readonly sample?: SampleName
  readonly sign?: string
  readonly scheme?: SigningScheme
  readonly key?: string
}
type Endpoint = RouteAnswer<Routes['webhooks']['list']>['webhooks'][number]

/** The target of an event: an endpoint that the API returned, or a bare URL, for which there are no settings. */
type Target = { readonly url: string; readonly client?: Client; readonly endpoint?: Endpoint }

export function addSend(program: Command): void {
  const send = program
    .command('send')
    .argument('[endpoint]', 'slug, id or URL of an endpoint (without it, the first one)')
    .summary('send an event to an endpoint')
    .description('Sends an event to an endpoint as a sender would, and reports its result.')
    .option('-d, --data <json>', 'the body: text, @file, or - for stdin')
    .addOption(new Option('--sample <name>', 'an example body').choices(Object.keys(SAMPLES)).conflicts('data'))
    .option('--sign <secret>', 'sign the body with the verification secret of the endpoint')
    .addOption(
      new Option('--scheme <scheme>', `signature scheme (without it, that of the endpoint; ${PRODUCTS_TEXT})`).choices(
        SIGNING_SCHEMES,
      ),
    )
    .option('--key <key>', 'idempotency key: an event with the same key is not stored again')
    .action(sendEvent)
  withExample(
    withCommon(send),
    `send -d '{"amount":1200}'`,
    'send first --sample payment',
    'send billing -d @event.json --sign whsec_…',
  )
}

async function sendEvent(named: string | undefined, options: SendOptions): Promise<void> {
  const body = options.data === undefined ? sample(options.sample ?? 'hello') : await readData(options.data)
  const target = await targetOf(named, options)
  const accepted = await postEvent(target.url, {
    body,
    headers: { ...signing(target, { ...options, body }), ...keyed(options) },
  })
  const decision = options.json === true || options.quiet === true ? undefined : await decisionOn(accepted, target)
  const ids = accepted.records.map(({ id }) => id)
  print({ json: accepted, ids, text: () => sentText({ accepted, decision, next: invokedAs() }) }, options)
}

async function targetOf(named: string | undefined, options: ConnectionOptions): Promise<Target> {
  if (named !== undefined && /^https?:\/\//.test(named)) return { url: named }
  const { client, baseUrl } = await connect(options)
  const endpoint = await endpointNamed(client, named)
  // Not the public URL, because its host name might not resolve inside this network.
  return { url: baseUrl + endpoint.public_path, client, endpoint }
}

async function endpointNamed(client: Client, named: string | undefined): Promise<Endpoint> {
  let oldest: Endpoint | undefined
  for await (const endpoint of client.webhooks.list({ limit: 200 })) {
    if (endpoint.id === named || endpoint.slug === named) return endpoint
    oldest = endpoint
  }
  if (named !== undefined)
    throw new Failure(`There is no endpoint "${named}" here. See ${invokedAs()} endpoints list.`, EXIT.notFound)
  if (oldest === undefined) throw new Failure('This project has no endpoint to send to.', EXIT.notFound)
  return oldest
}

function keyed({ key }: SendOptions): Readonly<Record<string, string>> {
  return key === undefined ? {} : { 'Idempotency-Key': key }
}

function checkSignable(scheme: SigningScheme | PrivateKeyScheme): asserts scheme is SigningScheme {
  if (scheme === 'public_key' || scheme === 'oidc_bearer' || scheme === 'aws_sns' || scheme === 'paypal')
    throw new Failure('Only the sender has the private key of this endpoint. Send a test from the sender.', EXIT.usage)
}

function checkSignedOutside(settings: Parameters<typeof isSignedInBody>[0]): void {
  if (isSignedInBody(settings))
    throw new Failure('The signature of this endpoint is in the body. Send a test from the sender.', EXIT.usage)
}

type ToSign = { readonly sign?: string; readonly scheme?: SigningScheme; readonly body: Buffer }

function signing({ endpoint, url }: Target, { sign: secret, scheme, body }: ToSign): Readonly<Record<string, string>> {
  if (secret === undefined) {
    if (scheme !== undefined) throw new Failure('--scheme needs --sign with the secret.', EXIT.usage)
    return {}
  }
  const checked = endpoint?.verification.scheme ?? 'none'
  const chosen = scheme ?? (checked === 'none' ? undefined : checked)
  if (chosen === undefined)
    throw new Failure(`Name the signature scheme with --scheme: ${SIGNING_SCHEMES.join(', ')}.`, EXIT.usage)
  checkSignable(chosen)
  const settings = endpoint?.verification ?? {}
  checkSignedOutside(settings)
  return signatureHeaders({ scheme: chosen, secret, body, settings, url: endpoint?.public_url ?? url })
}

/** The routing decision of an event; undefined for a bare URL. */
async function decisionOn(accepted: Accepted, { client }: Target): Promise<Decision | undefined> {
  return client === undefined ? undefined : (await client.submissions.get({ id: accepted.id })).submission.decision
}
