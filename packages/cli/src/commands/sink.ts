import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Command } from 'commander'
import { Failure } from '../failure.ts'
import { complain, io, say, signals, withIo } from '../io.ts'
import { invokedAs, numberIn, withExample } from '../options.ts'
import { indentJson } from '../text/indent-json.ts'
import { plain, plainLines } from '../text/plain.ts'
import { style } from '../text/style.ts'
import { moment } from '../text/time.ts'

type SinkOptions = {
  readonly port: number
  readonly status: number
  readonly count?: number
  readonly secret?: string
  readonly json?: boolean
}

const BODY_BYTES_MAX = 16_777_216
const PORT = 4690

export function addSink(program: Command): void {
  const sink = program
    .command('sink')
    .summary('receive deliveries on this machine and print them')
    .description(
      'Listens on this machine and prints each request that arrives, as a destination to\ntry things with. With the signing secret of the destination it also verifies the\nsignature, and answers 401 when it is wrong.\nIt runs until you press Ctrl-C.',
    )
    .option('--port <port>', 'the port to listen on; 0: any free port', numberIn(0, 65_535), PORT)
    .option('--status <code>', 'the response status: 500 to see retries', numberIn(200, 599), 200)
    .option('--count <count>', 'stop after this many requests', numberIn(1, 1_000_000))
    .option('--secret <secret>', 'verify with the signing secret of the destination (whsec_…)')
    .option('--json', 'print each request as one line of JSON')
    .action(receive)
  withExample(sink, 'sink', 'sink --secret whsec_…', 'sink --status 500 --count 3')
}

/** One request as received. `signature` is null when there is no secret to verify with. */
type Came = {
  readonly at: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signature: 'valid' | { readonly reason: string; readonly error: string } | null
  readonly answered: number
}

async function receive({ port, status, count = Infinity, secret, json = false }: SinkOptions): Promise<void> {
  // A request arrives outside the context of the command, so its handler enters that context again.
  const own = io()
  let seen = 0
  const server = createServer((request, response) => {
    void withIo(own, async () => {
      const came = await take({ request, response, secret, status })
      if (came === undefined) return
      seen += 1
      say(json ? JSON.stringify(came) : textFor(came))
      if (seen >= count) end(server)
    })
  })
  await listen(server, port)
  // This comes before the first output, because a reader of the output can end the command immediately.
  const stop = (): void => end(server)
  signals().once('SIGINT', stop).once('SIGTERM', stop)
  const closed = once(server, 'close').finally(() => signals().off('SIGINT', stop).off('SIGTERM', stop))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  if (json) complain(`Listening at ${url}`)
  else say(greeting(url, secret !== undefined))
  await closed
}

function end(server: Server): void {
  server.close()
  server.closeAllConnections()
}

/** Listens on loopback only, so that only this machine can reach it. */
async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    if (isTaken)
      throw new Failure(`Port ${port} is in use. Choose another one with --port, or use --port 0 for any free port.`)
    throw error
  }
}

type Exchange = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly secret: string | undefined
  readonly status: number
}

/** Reads a request, verifies its signature and responds; undefined when the request was interrupted. */
async function take({ request, response, secret, status }: Exchange): Promise<Came | undefined> {
  const body = await bodyOf(request)
  if (body === undefined) {
    response.writeHead(413, { Connection: 'close' }).end()
    return undefined
  }
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : (value ?? []).join(', '),
    ]),
  )
  const signature = secret === undefined ? null : await judged(secret, { headers, body })
  const answered = signature === null || signature === 'valid' ? status : 401
  const isRead = once(response, 'close')
  response.writeHead(answered, { 'Content-Type': 'application/json' }).end(JSON.stringify({ received: answered < 300 }))
  await isRead
  return {
    at: new Date().toISOString(),
    method: request.method ?? '',
    path: request.url ?? '/',
    headers,
    body: body.toString(),
    signature,
    answered,
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of request) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a request without an encoding yields buffers
      const part = chunk as Buffer
      bytes += part.length
      if (bytes > BODY_BYTES_MAX) return undefined
      chunks.push(part)
    }
  } catch {
    return undefined
  }
  return Buffer.concat(chunks)
}

async function judged(
  secret: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer },
): Promise<Exclude<Came['signature'], null>> {
  const { SignatureError, verifySignature } = await import('@postroad/sdk/verify-signature')
  try {
    await verifySignature({ body: new Uint8Array(body), headers, secret })
    return 'valid'
  } catch (error) {
    if (error instanceof SignatureError) return { reason: error.reason, error: error.message }
    if (error instanceof TypeError) return { reason: 'bad_secret', error: error.message }
    throw error
  }
}

function greeting(url: string, verifies: boolean): string {
  return [
    `${style.strong('Listening')}  ${url}`,
    `Deliver events here: ${invokedAs()} destinations create ${url} --name sink`,
    ...(verifies ? [] : [style.dim('Signatures are not verified. Pass the signing secret with --secret.')]),
    '',
  ].join('\n')
}

/** The headers to show; `--json` shows everything. */
const SHOWN = ['service-event-id', 'service-dataset', 'service-attempt', 'content-type'] as const

function textFor({ at, method, path, headers, body, signature, answered }: Came): string {
  const line = `${style.dim(moment(at))}  ${style.strong(`${method} ${plain(path)}`)}  answered ${answered < 300 ? style.good(String(answered)) : style.bad(String(answered))}${signatureText(signature)}`
  const shown = SHOWN.flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [`  ${style.dim(name)}  ${plain(value)}`]
  })
  return [line, ...shown, indented(body), ''].join('\n')
}

function signatureText(signature: Came['signature']): string {
  if (signature === null) return ''
  return signature === 'valid' ? `  ${style.good('signature valid')}` : `\n  ${style.bad(plain(signature.error))}`
}

function indented(body: string): string {
  const shown = body === '' ? '(no body)' : isJson(body) ? indentJson(body) : body
  return plainLines(shown)
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
