import { text as textOf } from 'node:stream/consumers'
import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { Ended, EXIT, Failure } from '../failure.ts'
import { io } from '../io.ts'
import { withCommon, withExample, type CommonOptions } from '../options.ts'
import { print } from '../output.ts'
import { readRequest, type SavedRequest } from '../send/saved-request.ts'
import { plain } from '../text/plain.ts'
import { style } from '../text/style.ts'
import { endpointId } from './rotate.ts'

type VerifyOptions = CommonOptions & {
  readonly secret?: string
  readonly secretStdin?: true
  readonly endpoint?: string
  readonly at?: string
}
type Explained = RouteAnswer<Routes['webhooks']['verifySample']>

export function addVerify(program: Command): void {
  const verify = program
    .command('verify')
    .argument('<request-file>', 'a saved request: headers, an empty line, and the body; - for stdin')
    .summary('check the signature of a saved request')
    .description(
      'Checks the signature of a saved request. The exit code is 1 if the signature is invalid.\n\n' +
        'With a secret it checks a delivery of Postroad on this machine, without a server: by Service-Signature, or else by webhook-signature. With --endpoint the server checks a request of a sender with the settings and the secret of that endpoint, and explains each step.',
    )
    .option('--secret <secret>', 'the signing secret of the destination (whsec_…)')
    .option('--secret-stdin', 'read the secret from stdin')
    .option('--endpoint <endpoint>', 'check a request of a sender to this endpoint: slug or id')
    .option('--at <time>', 'check as if it were this time, for an old request (RFC 3339)', parsedTime)
    .action(verifyRequest)
  withExample(
    withCommon(verify),
    'verify request.http --secret whsec_…',
    'verify request.http --endpoint github --at 2026-01-15T12:00:00Z',
  )
}

function parsedTime(text: string): string {
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw new Failure('--at must be a time such as 2026-01-31T12:00:00Z.', EXIT.usage)
  return new Date(at).toISOString()
}

async function verifyRequest(file: string, options: VerifyOptions): Promise<void> {
  const { secret, secretStdin, endpoint } = options
  const ways = [secret !== undefined, secretStdin === true, endpoint !== undefined].filter((isGiven) => isGiven)
  if (ways.length !== 1) throw new Failure('Add one of --secret, --secret-stdin and --endpoint.', EXIT.usage)
  if (secretStdin === true && file === '-')
    throw new Failure('Name a file: --secret-stdin reads the secret from stdin.', EXIT.usage)
  const request = await readRequest(file)
  if (endpoint !== undefined) return explained(request, { ...options, endpoint })
  return delivery(request, { ...options, secret: secret ?? (await textOf(io().stdin)).trim() })
}

/** A delivery of Postroad, checked by the function that receivers use. */
async function delivery(
  { headers, body }: SavedRequest,
  { secret, at, ...options }: VerifyOptions & { readonly secret: string },
): Promise<void> {
  const { SignatureError, verifySignature } = await import('@postroad/sdk/verify-signature')
  try {
    const now = at === undefined ? {} : { now: Date.parse(at) }
    const { id, dataset, received_at } = await verifySignature({ headers, body: new Uint8Array(body), secret, ...now })
    const text = (): string => `${style.good('The signature is valid.')} Event ${id} in ${plain(dataset)}.`
    print({ json: { valid: true, event_id: id, dataset, received_at }, ids: [id], text }, options)
  } catch (error) {
    if (!(error instanceof SignatureError) && !(error instanceof TypeError)) throw error
    const reason = error instanceof SignatureError ? error.reason : 'bad_secret'
    const hint = reason === 'stale_timestamp' ? ' For an old request, add --at with the time at which it arrived.' : ''
    const text = (): string => `${style.bad('The signature is not valid.')} ${plain(error.message)}${hint}`
    print({ json: { valid: false, reason, error: error.message }, ids: [], text }, options)
    throw new Ended(EXIT.failed)
  }
}

/** A request of a sender, which the server checks with the settings of an endpoint. The secret stays on the server. */
async function explained(
  { headers, body }: SavedRequest,
  { endpoint, at, ...options }: VerifyOptions & { readonly endpoint: string },
): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.webhooks.verifySample({
    id: await endpointId(client, endpoint),
    headers: { ...headers },
    body_base64: body.toString('base64'),
    ...(at === undefined ? {} : { now: at }),
  })
  print({ json: answer, ids: [], text: () => explanationText(answer) }, options)
  if (!answer.ok) throw new Ended(EXIT.failed)
}

const mark = (passed: boolean | null): string =>
  passed === null ? style.dim('-') : passed ? style.good('✓') : style.bad('✗')

/** Each step of the check with its result, and the possible causes. */
function explanationText({ scheme, ok, steps, hints }: Explained): string {
  const head = ok ? style.good('The signature is valid.') : style.bad('The signature is not valid.')
  return [
    scheme === 'none' ? 'This endpoint does not verify signatures.' : head,
    ...steps.map(({ ok: passed, text }) => `  ${mark(passed)} ${plain(text)}`),
    ...(hints.length === 0 ? [] : ['Possible causes:', ...hints.map((hint) => `  ${plain(hint)}`)]),
  ].join('\n')
}
