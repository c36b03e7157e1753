/** One tenant that sends the same request again and again: a separate process, so that its cost is not the victim's. */
import { gzipSync } from 'node:zlib'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { answer } from '../../bench/child.ts'
import { nowMs } from '../../bench/statistics.ts'
import { openPeers, takenBytes } from './peers.ts'

/** The bodies that cost most for each byte that is sent. */
const MIB = 1_048_576
const BODIES = {
  plus: () => gzipSync(`k=${'+'.repeat(MIB - 20)}%`),
  unclosed: () => Buffer.from(`[${'{},'.repeat(349_000)}`),
  boundaries: () =>
    Buffer.from(`--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n${'\r\n--'.repeat(MIB / 4 - 100)}`),
  none: () => undefined,
} as const

export type Attack = {
  readonly port: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: keyof typeof BODIES | { readonly text: string }
  /** Requests that are under way together. */
  readonly connections: number
  readonly ms: number
}
export type AttackResult = { readonly answers: Readonly<Record<string, number>>; readonly slowestMs: number }

export type Sent = Pick<Attack, 'method' | 'path' | 'headers'> & { readonly text: string | undefined }
export type AttackerVerbs = {
  attack(of: Attack): Promise<AttackResult>
  /** Sends each request once, at a pace. */
  sendEach(of: {
    readonly port: number
    readonly requests: readonly Sent[]
    readonly everyMs: number
  }): Promise<AttackResult>
  /** Opens this many streams, and closes them at the end of the time. */
  openStreams(of: Streams): Promise<AttackResult>
  /** Starts servers that abuse their protocols. Returns their ports by their names. */
  listen(none: undefined): Promise<Readonly<Record<string, number>>>
  /** The most bytes that one connection took from each of these servers since the last question. */
  taken(none: undefined): Readonly<Record<string, number>>
}
export type Streams = Pick<Attack, 'port' | 'path' | 'headers' | 'ms'> & { readonly count: number }

async function attack({ port, method, path, headers, body, connections, ms }: Attack): Promise<AttackResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const bytes = typeof body === 'string' ? BODIES[body]() : Buffer.from(body.text)
  const tally = new Tally()
  const until = nowMs() + ms
  const line = async (): Promise<void> => {
    while (nowMs() < until) {
      // oxlint-disable-next-line no-await-in-loop -- one request at a time on each connection
      const status = await tally.time(once({ port, method, path, headers, agent, bytes }))
      // A refused sender obeys, as an honest client does, and does not flood.
      // oxlint-disable-next-line no-await-in-loop -- as above
      if (status.startsWith('429')) await sleep(REFUSED_MS)
    }
  }
  await Promise.all(Array.from({ length: connections }, line))
  agent.destroy()
  return tally.result
}

async function sendEach({ port, requests, everyMs }: Parameters<AttackerVerbs['sendEach']>[0]): Promise<AttackResult> {
  const agent = new Agent({ keepAlive: true })
  const tally = new Tally()
  const sent = []
  for (const { text, ...rest } of requests) {
    const bytes = text === undefined ? undefined : Buffer.from(text)
    sent.push(tally.time(once({ ...rest, port, agent, bytes })))
    // oxlint-disable-next-line no-await-in-loop -- at a pace
    await sleep(everyMs)
  }
  await Promise.all(sent)
  agent.destroy()
  return tally.result
}

async function openStreams({ port, path, headers, ms, count }: Streams): Promise<AttackResult> {
  const agent = new Agent({ maxSockets: count })
  const tally = new Tally()
  const opened = Array.from({ length: count }, () => {
    const sent = request({ port, host: '127.0.0.1', path, headers, agent }, (response) => {
      tally.count(String(response.statusCode))
      response.resume()
    })
    sent.on('error', () => undefined)
    sent.end()
    return sent
  })
  await sleep(ms)
  for (const sent of opened) sent.destroy()
  agent.destroy()
  return tally.result
}

/** The answers by their status. */
class Tally {
  readonly #answers: Record<string, number> = {}
  #slowestMs = 0

  get result(): AttackResult {
    return { answers: this.#answers, slowestMs: this.#slowestMs }
  }

  count(status: string): void {
    this.#answers[status] = (this.#answers[status] ?? 0) + 1
  }

  async time(answered: Promise<string>): Promise<string> {
    const from = nowMs()
    const status = await answered
    this.count(status)
    this.#slowestMs = Math.max(this.#slowestMs, nowMs() - from)
    return status
  }
}

type Once = Pick<Attack, 'port' | 'method' | 'path' | 'headers'> & {
  readonly agent: Agent
  readonly bytes: Buffer | undefined
}

/** The status of one answer, or `error`. */
function once({ port, method, path, headers, agent, bytes }: Once): Promise<string> {
  return new Promise((resolve) => {
    const length = bytes === undefined ? {} : { 'content-length': String(bytes.length) }
    const options = { port, host: '127.0.0.1', method, path, headers: { ...headers, ...length }, agent }
    const sent = request(options, (response) => {
      let text = ''
      const { statusCode } = response
      response.on('data', (chunk: Buffer) => {
        if (statusCode === 429) text += chunk.toString()
      })
      response.on('close', () => resolve([statusCode, ...(/(?<="reason":")\w+/.exec(text) ?? [])].join(' ')))
    })
    sent.on('error', () => resolve('error'))
    sent.setTimeout(HUNG_MS, () => sent.destroy())
    sent.end(bytes)
  })
}

const HUNG_MS = 60_000
const REFUSED_MS = 250

answer({ attack, sendEach, openStreams, listen: openPeers, taken: takenBytes } satisfies AttackerVerbs)
