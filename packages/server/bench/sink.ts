/** The receiver of deliveries: a process of its own that counts, notes when each came, and answers 200. */
import { createServer, type AddressInfo } from 'node:net'
import { answer } from './child.ts'
import { nowMs } from './statistics.ts'
import { createCutter } from './wire.ts'

export type SinkVerbs = {
  listen(input: null): Promise<number>
  /** Counts from 0 again. */
  reset(input: null): void
  /** When the `count`th request came, as soon as it has come. */
  reached(input: { count: number; patienceMs: number }): Promise<number>
  /** When each sequence number from `from` on came first; holes where none did. */
  receivedAt(input: { from: number; count: number }): readonly (number | null)[]
}

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok')
const MARK = Buffer.from('"sequence":')
const first = new Map<number, number>()
const cameAt: number[] = []
const waiting = new Set<() => void>()

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => undefined)
  socket.on('data', createCutter((_head, body) => {
    socket.write(ANSWER)
    const now = nowMs()
    cameAt.push(now)
    const at = body.indexOf(MARK)
    const sequence = at < 0 ? -1 : Number.parseInt(body.toString('latin1', at + MARK.length, at + MARK.length + 12), 10)
    if (!first.has(sequence)) first.set(sequence, now)
    for (const look of waiting) look()
  }))
})

function listen(): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function reset(): void {
  first.clear()
  cameAt.length = 0
}

function reached({ count, patienceMs }: { count: number; patienceMs: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${cameAt.length} of ${count} deliveries came in ${patienceMs} ms.`)), patienceMs)
    const look = (): void => {
      const at = cameAt[count - 1]
      if (at === undefined) return
      clearTimeout(timer)
      waiting.delete(look)
      resolve(at)
    }
    waiting.add(look)
    look()
  })
}

function receivedAt({ from, count }: { from: number; count: number }): readonly (number | null)[] {
  return Array.from({ length: count }, (_unused, index) => first.get(from + index) ?? null)
}

answer({ listen, reset, reached, receivedAt } satisfies SinkVerbs)
