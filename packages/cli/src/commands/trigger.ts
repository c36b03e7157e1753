import { randomUUID } from 'node:crypto'
import type { RouteAnswer, Routes, SourcePreset } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { EXIT, Failure } from '../failure.ts'
import { invokedAs, withCommon, withExample, type CommonOptions } from '../options.ts'
import { print } from '../output.ts'
import { readData } from '../send/data.ts'
import { postEvent } from '../send/post.ts'
import { sampleOf } from '../send/preset-sample.ts'
import { sentText } from '../send/sent-text.ts'
import { plain } from '../text/plain.ts'
import { style } from '../text/style.ts'
import { endpointId } from './rotate.ts'
import { presetNamed } from './source-presets.ts'

type TriggerOptions = CommonOptions & { readonly endpoint?: string; readonly data?: string }
type Endpoint = RouteAnswer<Routes['webhooks']['get']>['webhook']

export function addTrigger(program: Command): void {
  const trigger = program
    .command('trigger')
    .argument('<preset>', 'id of the provider (see source-presets list)')
    .argument('<event>', 'name of the event, as the provider calls it')
    .summary('send an event as a provider sends and signs it')
    .description(
      'Sends an event to your endpoint for a provider, with the headers and the signature of that ' +
        'provider. The server signs with the endpoint’s secret, so you do not need it.\n\n' +
        'Without --data, the body is the sample event of the preset, or a minimal one, with the event name and an ID where this provider puts them.',
    )
    .option('--endpoint <endpoint>', 'slug or id (without it, the endpoint with the settings of the provider)')
    .option('-d, --data <json>', 'the body: text, @file, or - for stdin')
    .action(triggerEvent)
  withExample(withCommon(trigger), 'trigger github push', 'trigger stripe payment_intent.succeeded -d @payment.json')
}

async function triggerEvent(presetId: string, event: string, options: TriggerOptions): Promise<void> {
  const { client, baseUrl } = await connect(options)
  const preset = await presetNamed(client, presetId)
  const endpoint = await endpointFor(client, preset, options.endpoint)
  const sample = sampleOf(preset, { event, id: randomUUID() })
  const body = options.data === undefined ? sample.body : await readData(options.data)
  const { headers } = await client.webhooks.signSample({ id: endpoint.id, body_base64: body.toString('base64') })
  // Not the public URL, because its host name might not resolve inside this network.
  const accepted = await postEvent(baseUrl + endpoint.public_path, { body, headers: { ...sample.headers, ...headers } })
  const { submission } = await client.submissions.get({ id: accepted.id })
  const kind = preset.sample === null || preset.sample === undefined ? 'a minimal one' : 'the sample of the preset'
  const note = options.data === undefined ? `The body is ${kind}: ${plain(body.toString())}` : ''
  const unnamed = sample.isNamed ? [] : [`${preset.name} names no event in a place that the preset knows.`]
  const text = (): string =>
    [
      `Sent as ${plain(preset.name)} to ${plain(endpoint.slug)}`,
      sentText({ accepted, decision: submission.decision, next: invokedAs() }),
      ...[note, ...unnamed].filter((line) => line !== '').map(style.dim),
    ].join('\n')
  print({ json: accepted, ids: accepted.records.map(({ id }) => id), text }, options)
}

/** The named endpoint, or the one that has the settings of the preset. */
async function endpointFor(client: Client, preset: SourcePreset, named: string | undefined): Promise<Endpoint> {
  if (named !== undefined) return (await client.webhooks.get({ id: await endpointId(client, named) })).webhook
  const fitting: Endpoint[] = []
  for await (const endpoint of client.webhooks.list({ limit: 200 })) if (fits(endpoint, preset)) fitting.push(endpoint)
  // Several providers sign in the same way, so the name decides between their endpoints.
  const byName = fitting.filter(({ slug, name }) => `${slug} ${name}`.toLowerCase().includes(preset.id))
  const [endpoint, ...others] = byName.length > 0 ? byName : fitting
  if (endpoint === undefined)
    throw new Failure(
      `No endpoint is set up for ${preset.name}. Create one: ${invokedAs()} endpoints create '${preset.name}' --preset ${preset.id} --secret-stdin`,
      EXIT.notFound,
    )
  if (others.length === 0) return endpoint
  const slugs = [endpoint, ...others].map(({ slug }) => slug).join(', ')
  throw new Failure(`Several endpoints have these settings. Choose one with --endpoint: ${slugs}.`, EXIT.usage)
}

/** Whether an endpoint verifies with the settings of the preset. Members that only the endpoint has do not count. */
function fits({ verification }: Endpoint, { settings }: SourcePreset): boolean {
  const own = new Map<string, unknown>(Object.entries(verification))
  return Object.entries(settings.verification).every(
    ([name, value]) => JSON.stringify(own.get(name)) === JSON.stringify(value),
  )
}
