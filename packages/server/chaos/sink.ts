import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { Stripe } from 'stripe'
import { systemClock } from '../src/platform/clock.ts'
import { Ledger } from './ledger.ts'
import { eventOf } from './payload.ts'

/** One request as a receiver saw it, recorded when it was complete and before the answer. */
export type Receipt = {
  readonly destination: string
  /** The event id (`rec_…`): the same on every attempt. */
  readonly record: string
  /** The delivery id (`att_…`): one per attempt. */
  readonly attempt: string
  readonly event: string | null
  readonly at: number
  /** Requests to this destination without an answer when this one came, including this one. */
  readonly at_once: number
  /** Requests to this destination with a 2xx answer by then. */
  readonly succeeded: number
  readonly answered: number | 'hung_up'
  readonly signature: 'valid' | 'invalid'
  readonly body_sha256: string
  /** The hash of the payload inside the body. */
  readonly data_sha256: string
}

export type Conduct = {
  readonly status: number | 'hung_up'
  readonly afterMs?: number
  /** Answers when this promise resolves. */
  readonly after?: Promise<unknown>
  readonly headers?: Readonly<Record<string, string>>
}

/** The library that checks the signatures of a destination, and the secret. */
export type Trust = { readonly secret: string; readonly scheme: 'standard' | 'service' }

export type Sink = {
  readonly receipts: Ledger<Receipt>
  /** `host`: a name that leads here, instead of the address. */
  url(destination: string, host?: string): string
  /** Sets how this destination answers from now on. */
  conduct(destination: string, next: () => Conduct): void
  trust(destination: string, trust: Trust): void
  stop(): Promise<void>
}

type Tally = { underWay: number; succeeded: number }

/** Counts a request as under way until it is answered, or its sender has disconnected. */
function underWay(tally: Tally, response: ServerResponse): () => void {
  let isUnderWay = true
  const ended = (): void => {
    if (isUnderWay) tally.underWay -= 1
    isUnderWay = false
  }
  tally.underWay += 1
  response.once('close', ended)
  return ended
}

/** Receivers on one free port of 127.0.0.1, with a path for each destination. */
export async function openSink(folder: string): Promise<Sink> {
  const receipts = new Ledger<Receipt>(join(folder, 'receipts.jsonl'))
  const conducts = new Map<string, () => Conduct>()
  const trusted = new Map<string, Trust>()
  const tallies = new Map<string, Tally>()
  const clock = systemClock()

  const receive = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const destination = (request.url ?? '').slice(1)
    const { status, afterMs = 0, after, headers = {} } = conducts.get(destination)?.() ?? { status: 200 }
    const tally = tallies.get(destination) ?? { underWay: 0, succeeded: 0 }
    tallies.set(destination, tally)
    const ended = underWay(tally, response)
    const data = dataOf(body)
    receipts.note({
      destination,
      record: header(request, 'service-event-id'),
      attempt: header(request, 'service-delivery-id'),
      event: eventOf(data),
      at: clock.now(),
      at_once: tally.underWay,
      succeeded: tally.succeeded,
      answered: status,
      signature: isSigned(request, { body, trust: trusted.get(destination) }) ? 'valid' : 'invalid',
      body_sha256: sha256(body),
      data_sha256: sha256(data),
    })
    const answer = (): void => {
      ended()
      if (status === 'hung_up') return void request.socket.destroy()
      if (status < 300) tally.succeeded += 1
      response.writeHead(status, headers).end('ok')
    }
    if (after !== undefined) void after.then(answer)
    else if (afterMs === 0) answer()
    else setTimeout(answer, afterMs)
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => receive(request, response, Buffer.concat(chunks).toString()))
  })
  server.keepAliveTimeout = 60_000
  const port = await listen(server)

  return {
    receipts,
    url: (destination, host = '127.0.0.1') => `http://${host}:${port}/${destination}`,
    conduct: (destination, next) => conducts.set(destination, next),
    trust: (destination, trust) => trusted.set(destination, trust),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          receipts.close()
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
  return (server.address() as AddressInfo).port
}

/** Third-party code checks this, so that a mistake of ours cannot hide itself. */
function isSigned(request: IncomingMessage, { body, trust }: { body: string; trust: Trust | undefined }): boolean {
  if (trust === undefined) return false
  try {
    if (trust.scheme === 'service')
      return (
        Stripe.webhooks.signature?.verifyHeader(body, header(request, 'service-signature'), trust.secret, 300) === true
      )
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
    new Webhook(trust.secret).verify(body, Object.fromEntries(names.map((name) => [name, header(request, name)])), {
      jsonParse: false,
    })
    return true
  } catch {
    return false
  }
}

/** The payload, byte for byte: the text after `"data":` up to the brace that closes the envelope. */
function dataOf(body: string): string {
  const mark = '"data":'
  return body.slice(body.indexOf(mark) + mark.length, -1)
}

function header(request: IncomingMessage, name: string): string {
  return String(request.headers[name] ?? '')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
