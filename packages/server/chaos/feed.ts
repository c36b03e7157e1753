import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from '../src/platform/clock.ts'
import type { Sent } from './load.ts'

/** A foreign system with numbered items, which can be read again from any item on. */
export type Feed = {
  /** `GET /items?after=3`: a page of items. */
  readonly itemsUrl: string
  /** The same numbers as server-sent events, after `Last-Event-ID`. */
  readonly streamUrl: string
  /** Every item so far, as it must be stored. */
  items(): readonly Sent[]
  /** Adds no more items. */
  end(): void
  stop(): Promise<void>
}

/** The datasets of the two sources. */
export const POLLED = 'polled'
export const STREAMED = 'streamed'

const PAGE = 100
const TICK_MS = 20

/** Adds items at this rate, from now until `end`. */
export async function openFeed(ratePerSecond: number): Promise<Feed> {
  const clock = systemClock()
  const began = clock.now()
  const readers = new Map<ServerResponse, number>()
  let ended: number | undefined
  const count = (): number => ended ?? Math.floor(((clock.now() - began) * ratePerSecond) / 1_000)

  const follow = (): void => {
    const last = count()
    for (const [reader, from] of readers) {
      for (let n = from + 1; n <= last; n += 1) reader.write(`event: ${eventOf(STREAMED, n)}\nid: ${n}\ndata: ${n}\n\n`)
      readers.set(reader, last)
    }
  }
  const timer = setInterval(follow, TICK_MS)
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://feed')
    if (pathname === '/stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      response.once('close', () => readers.delete(response))
      readers.set(response, Number(request.headers['last-event-id'] ?? 0))
      return
    }
    const after = Number(searchParams.get('after') ?? 0)
    const last = Math.min(count(), after + PAGE)
    const items = numbers(after + 1, last).map((n) => ({ event: eventOf(POLLED, n) }))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items, last: String(last) }))
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
  const { port } = server.address() as AddressInfo

  return {
    itemsUrl: `http://127.0.0.1:${port}/items`,
    streamUrl: `http://127.0.0.1:${port}/stream`,
    items: () =>
      numbers(1, count()).flatMap((n) => [
        sent(POLLED, { event: eventOf(POLLED, n) }, n),
        sent(STREAMED, { event: eventOf(STREAMED, n), id: String(n), data: n }, n),
      ]),
    end: () => {
      ended = count()
    },
    stop: async () => {
      clearInterval(timer)
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

const eventOf = (dataset: string, n: number): string => `${dataset}-${n}`

// oxlint-disable-next-line max-params -- the dataset, the payload, and its number
function sent(dataset: string, payload: object, n: number): Sent {
  const sha256 = createHash('sha256').update(JSON.stringify(payload)).digest('hex')
  return { event: eventOf(dataset, n), dataset, sha256, at: n }
}

function numbers(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}
