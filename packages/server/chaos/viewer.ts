import { createHash } from 'node:crypto'
import { request, type ClientRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Rng } from '../sim/rng.ts'
import type { Ledger } from './ledger.ts'

/** One record as a client of the stream saw it. */
export type Sight = { readonly client: string; readonly record: string; readonly data_sha256: string }

export type Viewer = {
  readonly name: string
  /** The number of connections that the server accepted. */
  connections(): number
  stop(): Promise<void>
}

export type ViewerOptions = {
  readonly name: string
  readonly url: string
  readonly key: string
  readonly sights: Ledger<Sight>
  readonly rng: Rng
}

const BACK_MS_MAX = 300
/** A client disconnects by itself after at most this many records, in the middle of the stream. */
const RECORDS_MAX = 80

/**
 * A client of `/v1/stream` that loses its connection repeatedly, and each time resumes from the last id that it has received
 * completely.
 */
export async function openViewer(options: ViewerOptions): Promise<Viewer> {
  const { rng } = options
  const stopping = new AbortController()
  const begun = Promise.withResolvers<void>()
  let cursor: string | undefined
  let connections = 0

  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one connection after the other
      await connectOnce(options, {
        cursor,
        records: rng.int(1, RECORDS_MAX),
        signal: stopping.signal,
        opened: () => {
          connections += 1
        },
        moved: (id) => {
          cursor = id
          begun.resolve()
        },
      })
      // oxlint-disable-next-line no-await-in-loop -- as above
      await sleep(rng.int(0, BACK_MS_MAX), undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const watching = watch()
  await begun.promise
  return {
    name: options.name,
    connections: () => connections,
    stop: () => {
      stopping.abort()
      return watching
    },
  }
}

type Visit = {
  readonly cursor: string | undefined
  /** The client disconnects after this many records. */
  readonly records: number
  readonly signal: AbortSignal
  readonly opened: () => void
  readonly moved: (cursor: string) => void
}

/** Resolves when the connection has ended, whichever side ended it. */
function connectOnce({ name, url, key, sights }: ViewerOptions, visit: Visit): Promise<void> {
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(visit.cursor === undefined ? {} : { 'last-event-id': visit.cursor }),
    }
    const outgoing: ClientRequest = request(url, { headers, agent: false, signal: visit.signal })
    outgoing.on('error', () => resolve())
    outgoing.on('close', () => resolve())
    outgoing.on('response', (response) => {
      if (response.statusCode === 200) visit.opened()
      else outgoing.destroy()
      let rest = ''
      let left = visit.records
      response.setEncoding('utf8')
      response.on('error', () => resolve())
      response.on('data', (text: string) => {
        const blocks = (rest + text).split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) {
          if (left === 0) break
          const record = noteBlock(block, visit)
          if (record === undefined) continue
          sights.note({ client: name, ...record })
          left -= 1
        }
        if (left === 0) outgoing.destroy()
      })
    })
    outgoing.end()
  })
}

function noteBlock(block: string, { moved }: Visit): Omit<Sight, 'client'> | undefined {
  const id = /^id: (.*)$/m.exec(block)?.[1]
  const line = /^data: (\{"id":"(rec_\w+)".*)$/m.exec(block)
  if (id !== undefined) moved(id)
  if (line?.[1] === undefined || line[2] === undefined) return undefined
  const data = line[1].slice(line[1].indexOf(',"data":') + 8, -1)
  return { record: line[2], data_sha256: createHash('sha256').update(data).digest('hex') }
}
