/** One tenant that sends the same request again and again: a separate process, so that its cost is not the victim's. */
import { gzipSync } from 'node:zlib'
import { Agent, request } from 'node:http'
import { answer } from './child.ts'
import { nowMs } from './statistics.ts'

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

export type AttackerVerbs = { attack(of: Attack): Promise<AttackResult> }

async function attack({ port, method, path, headers, body, connections, ms }: Attack): Promise<AttackResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const bytes = typeof body === 'string' ? BODIES[body]() : Buffer.from(body.text)
  const answers: Record<string, number> = {}
  let slowestMs = 0
  const until = nowMs() + ms
  const once = (): Promise<string> =>
    new Promise((resolve) => {
      const sent = request({ port, host: '127.0.0.1', method, path, headers, agent }, (response) => {
        response.resume()
        response.on('close', () => resolve(String(response.statusCode)))
      })
      sent.on('error', () => resolve('error'))
      sent.setTimeout(60_000, () => sent.destroy())
      sent.end(bytes)
    })
  const line = async (): Promise<void> => {
    while (nowMs() < until) {
      const from = nowMs()
      // oxlint-disable-next-line no-await-in-loop -- one request at a time on each connection
      const status = await once()
      answers[status] = (answers[status] ?? 0) + 1
      slowestMs = Math.max(slowestMs, nowMs() - from)
    }
  }
  await Promise.all(Array.from({ length: connections }, line))
  agent.destroy()
  return { answers, slowestMs }
}

answer({ attack } satisfies AttackerVerbs)
