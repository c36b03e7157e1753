/** The receiver of deliveries: a separate process that counts requests, records their times, and answers 200. */
import { createServer, type AddressInfo, type Server } from 'node:net'
import { answer } from './child.ts'
import { nowMs } from './statistics.ts'
import { createCutter } from './wire.ts'

export type SinkVerbs = {
  listen(input: null): Promise<number>
  /** A receiver that accepts requests and never answers. */
  listenMute(input: null): Promise<number>
  /** Answers each request after so many milliseconds; 0 is immediately. */
  answerAfter(input: { ms: number }): void
  /** How many requests have come. */
  came(input: null): number
  /** Restarts the count at 0. */
  reset(input: null): void
  /** When the `count`th request came, as soon as it has come. */
  reached(input: { count: number; patienceMs: number }): Promise<number>
  /** When each sequence number from `from` on came first, as soon as all have come. */
  receivedAt(input: { from: number; count: number; patienceMs: number }): Promise<readonly number[]>
}

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok')
const MARK = Buffer.from('"sequence":')
const first = new Map<number, number>()
const cameAt: number[] = []
const waiting = new Set<() => void>()
let answerMs = 0

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => undefined)
  socket.on(
    'data',
    createCutter((_head, body) => {
      if (answerMs === 0) socket.write(ANSWER)
      else setTimeout(() => socket.write(ANSWER), answerMs)
      const now = nowMs()
      cameAt.push(now)
      const at = body.indexOf(MARK)
      const sequence =
        at < 0 ? -1 : Number.parseInt(body.toString('latin1', at + MARK.length, at + MARK.length + 12), 10)
      if (!first.has(sequence)) first.set(sequence, now)
      for (const again of waiting) again()
    }),
  )
})

const mute = createServer((socket) => {
  socket.on('error', () => undefined)
  socket.resume()
})

const listen = (): Promise<number> => listening(server)
const listenMute = (): Promise<number> => listening(mute)
const came = (): number => cameAt.length
const answerAfter = ({ ms }: { ms: number }): void => {
  answerMs = ms
}

function listening(receiver: Server): Promise<number> {
  return new Promise((resolve) => {
    receiver.listen(0, '127.0.0.1', () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
      resolve((receiver.address() as AddressInfo).port)
    })
  })
}

function reset(): void {
  first.clear()
  cameAt.length = 0
}

function reached({ count, patienceMs }: { count: number; patienceMs: number }): Promise<number> {
  return once(patienceMs, () => cameAt[count - 1])
}

/** The first defined value of `look`, which is called again at every request. */
function once<T>(patienceMs: number, look: () => T | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`Not all came in ${patienceMs} ms; ${cameAt.length} did.`)),
      patienceMs,
    )
    const again = (): void => {
      const found = look()
      if (found === undefined) return
      clearTimeout(timer)
      waiting.delete(again)
      resolve(found)
    }
    waiting.add(again)
    again()
  })
}

function receivedAt({
  from,
  count,
  patienceMs,
}: {
  from: number
  count: number
  patienceMs: number
}): Promise<readonly number[]> {
  let arrived = 0
  return once(patienceMs, () => {
    while (arrived < count && first.has(from + arrived)) arrived += 1
    return arrived < count
      ? undefined
      : Array.from({ length: count }, (_unused, index) => first.get(from + index) ?? NaN)
  })
}

answer({ listen, listenMute, answerAfter, came, reset, reached, receivedAt } satisfies SinkVerbs)
