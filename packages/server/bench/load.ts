/** The load generator: a separate process with prepared requests, so that its cost does not affect the measured process. */
import { setTimeout as sleep } from 'node:timers/promises'
import { answer } from './child.ts'
import { payloadOf, rekey, requestOf, type RequestAt } from './payload.ts'
import { nowMs, quantile } from './statistics.ts'
import { openWire, type Wire } from './wire.ts'

export type Target = RequestAt
export type ClosedRun = Target & {
  readonly connections: number
  readonly until: { readonly ms: number } | { readonly count: number }
}
export type ClosedResult = {
  readonly answered: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}
export type OpenRun = Target & {
  /** Added to the path in turn. Defaults to none. */
  readonly suffixes?: readonly string[]
  readonly perSecond: number
  readonly ms: number
  readonly from: number
}
/** For each sequence number from `from` on, by the machine's monotonic clock. */
export type OpenResult = {
  readonly sentAt: readonly number[]
  readonly answeredAt: readonly number[]
  readonly refused: number
}

export type LoadVerbs = {
  closed(run: ClosedRun): Promise<ClosedResult>
  open(run: OpenRun): Promise<OpenResult>
}

const DISTINCT = 512
const PATIENCE_MS = 30_000
/** No key is used twice, in any run. */
let keys = Date.now() * 1_000

/** Each connection sends its next request when the last one is answered. A run fails if any answer is not 201. */
async function closed(run: ClosedRun): Promise<ClosedResult> {
  const requests = Array.from({ length: DISTINCT }, (_unused, index) => requestOf(run, payloadOf(index)))
  const tookMs: number[] = []
  const done = Promise.withResolvers<void>()
  const countMax = 'count' in run.until ? run.until.count : Infinity
  let [sent, refused, endAt] = [0, 0, Infinity]
  const starts = await Promise.all(
    Array.from({ length: run.connections }, async () => {
      let at = 0
      const wire: Wire = await openWire(run.port, (status) => {
        const now = nowMs()
        tookMs.push(now - at)
        if (status !== 201) refused += 1
        if (tookMs.length >= countMax || now >= endAt) done.resolve()
        else next()
      })
      const next = (): void => {
        if (sent >= countMax) return
        sent += 1
        at = nowMs()
        const request = requests[sent % DISTINCT] ?? Buffer.alloc(0)
        wire.send(run.keyed === true ? rekey(request, (keys += 1)) : request)
      }
      return { next, wire }
    }),
  )
  const startedAt = nowMs()
  if ('ms' in run.until) endAt = startedAt + run.until.ms
  for (const { next } of starts) next()
  await done.promise
  const seconds = (nowMs() - startedAt) / 1_000
  for (const { wire } of starts) wire.close()
  if (refused > 0) throw new Error(`${refused} of ${tookMs.length} requests were not answered 201.`)
  return {
    answered: tookMs.length,
    perSecond: tookMs.length / seconds,
    p50Ms: quantile(tookMs, 0.5),
    p99Ms: quantile(tookMs, 0.99),
  }
}

/** Sends at a fixed rate, whether answers come or not. The sink identifies requests by their sequence number. */
async function open(run: OpenRun): Promise<OpenResult> {
  const total = Math.round((run.perSecond * run.ms) / 1_000)
  const { suffixes = [''] } = run
  const sentAt: number[] = []
  const answeredAt: number[] = []
  let [refused, answered] = [0, 0]
  const allAnswered = Promise.withResolvers<void>()
  const idle: { send(sequence: number): void; close(): void }[] = []
  const dial = async () => {
    let current = 0
    const wire = await openWire(run.port, (status) => {
      answeredAt[current] = nowMs()
      answered += 1
      if (answered === total) allAnswered.resolve()
      if (status < 200 || status > 299) refused += 1
      idle.push(line)
    })
    const line = {
      send: (index: number) => {
        current = index
        const request = requestOf(
          { ...run, path: `${run.path}${suffixes[index % suffixes.length] ?? ''}` },
          payloadOf(run.from + index),
        )
        sentAt[index] = nowMs()
        wire.send(request)
      },
      close: () => wire.close(),
    }
    return line
  }
  // As many as are used in a second, because the server closes those that are idle for long.
  const lines = await Promise.all(Array.from({ length: Math.min(50, Math.ceil(run.perSecond)) }, dial))
  idle.push(...lines)
  // Slow answers delay no request: more connections are opened, as with independent senders.
  const sendOnNew = async (index: number): Promise<void> => {
    const line = await dial()
    lines.push(line)
    line.send(index)
  }
  const dialed: Promise<void>[] = []
  const startedAt = nowMs()
  for (let index = 0; index < total; index += 1) {
    const wait = startedAt + (index * 1_000) / run.perSecond - nowMs()
    // oxlint-disable-next-line no-await-in-loop -- this is the pace
    if (wait > 0) await sleep(wait)
    // Uses the connection that has been idle longest, so that the server closes none as idle.
    const line = idle.shift()
    if (line === undefined) dialed.push(sendOnNew(index))
    else line.send(index)
  }
  await Promise.all(dialed)
  await Promise.race([allAnswered.promise, sleep(PATIENCE_MS)])
  for (const line of lines) line.close()
  return { sentAt, answeredAt, refused }
}

answer({ closed, open } satisfies LoadVerbs)
