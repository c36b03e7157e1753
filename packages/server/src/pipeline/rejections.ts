import { isLogged, LIMITS, REASONS } from '@postroad/contract'
import type { Deps } from '../context.ts'
import { DbError } from '../platform/db.ts'
import { uuidv7Named } from '../platform/ids.ts'
import { addRejections, type CountedRow } from '../resources/capture/rejections/queries.ts'
import { putSamples } from '../resources/capture/webhooks/refused-samples/queries.ts'
import { createSampleTaker, type Refused } from './sample-refusals.ts'
import type { Asked, Captured, Rejected } from './types.ts'

/** The rejection log of this process: counts in memory, rows in the database a second later. */
export type Rejections = {
  /** Counts a refusal of a request whose credential was known, takes a sample of it now and then, and gives it with the row that counts it. Costs no statement and never fails. */
  note(of: Refused, rejected: Rejected): Rejected
  /** Writes what was counted. To be called every second, and once more at the end. */
  flush(): Promise<void>
  /** Refusals that are counted nowhere, because there was no room for them or the database lost its answer. */
  readonly lost: number
}

export type RejectionsOptions = { readonly entriesMax?: number }

type Entry = { -readonly [Name in keyof CountedRow]: CountedRow[Name] }

/** So many credentials × reasons × minutes are held at most: a few MB. */
const ENTRIES_MAX = 10_000
const ROWS_PER_STATEMENT = 1_000
const MINUTE_MS = 60_000
const AUDITED = new Set(['missing_header', 'bad_signature', 'stale_timestamp'])
const METHODS = { event: 'POST', handshake: 'GET', preflight: 'OPTIONS' } as const satisfies Record<
  Asked['kind'],
  string
>

/**
 * One entry for a credential, a reason and a minute, however many requests there were: a flood of forgeries costs a
 * counter in memory, and one row a second of one statement. What a killed process counted in its last second is lost.
 */
export function createRejections(deps: Deps, { entriesMax = ENTRIES_MAX }: RejectionsOptions = {}): Rejections {
  let counted = new Map<string, Entry>()
  let lost = 0
  let running: Promise<void> = Promise.resolve()
  const samples = createSampleTaker(({ asked }) => METHODS[asked.kind])

  /** Says whether there was room for it. */
  const add = (key: string, entry: Entry): boolean => {
    const known = counted.get(key)
    if (known === undefined && counted.size >= entriesMax) {
      lost += entry.count
      return false
    }
    if (known === undefined) counted.set(key, entry)
    else {
      const { at } = known
      counted.set(key, { ...(at > entry.at ? known : entry), count: known.count + entry.count })
    }
    return true
  }

  const writeCounts = async (): Promise<void> => {
    const taken = [...counted]
    counted = new Map()
    for (let from = 0; from < taken.length; from += ROWS_PER_STATEMENT) {
      const some = taken.slice(from, from + ROWS_PER_STATEMENT)
      try {
        // oxlint-disable-next-line no-await-in-loop -- one statement at a time, so that ingest finds the database free
        await addRejections(
          deps.database,
          some.map(([, entry]) => entry),
        )
      } catch (cause) {
        // What may have been written is not written again: a count is never above what came.
        const unknown = cause instanceof DbError && cause.outcome === 'unknown'
        if (unknown) lost += countOf(some)
        for (const [key, entry] of taken.slice(unknown ? from + ROWS_PER_STATEMENT : from)) add(key, entry)
        throw cause
      }
    }
  }

  /** A sample that could not be written is not missed: the next minute brings another one. */
  const writeSamples = async (): Promise<void> => {
    const sampled = samples.taken()
    if (sampled.length > 0) await putSamples(deps.database, sampled)
  }

  /** Both at once, for audit rows follow the counts within seconds. Neither waits for the other, and a failure of either is reported. */
  const write = async (): Promise<void> => {
    const written = await Promise.allSettled([writeCounts(), writeSamples()])
    const failed = written.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  return {
    get lost() {
      return lost
    },
    note: (refused, rejected) => {
      const { captured, receiver } = refused
      const { reason } = rejected
      if (!isLogged(reason)) return rejected
      samples.take(refused, rejected)
      const { webhook, ingestKeyId } = receiver
      const minute = Math.floor(captured.receivedAt / MINUTE_MS) * MINUTE_MS
      const key = `${receiver.plan.projectId} ${webhook?.id ?? ''} ${ingestKeyId ?? ''} ${reason} ${minute}`
      const known = counted.get(key)
      if (known === undefined) {
        const entry = entryOf({ captured, receiver }, { reason, minute, key })
        return add(key, entry) ? { ...rejected, rejectionId: entry.id } : rejected
      }
      known.count += 1
      if (captured.receivedAt >= known.at) Object.assign(known, latestOf(captured))
      return { ...rejected, rejectionId: known.id }
    },
    flush: () => {
      running = running.catch(() => undefined).then(() => (counted.size === 0 ? undefined : write()))
      return running
    },
  }
}

const countOf = (some: readonly (readonly [string, Entry])[]): number =>
  some.reduce((sum, [, { count }]) => sum + count, 0)

function entryOf(
  { captured, receiver }: Pick<Refused, 'captured' | 'receiver'>,
  of: { reason: keyof typeof REASONS; minute: number; key: string },
): Entry {
  const { plan, webhook, ingestKeyId } = receiver
  return {
    workspaceId: plan.workspaceId,
    projectId: plan.projectId,
    // Made of what the row is about, so that all processes write into the same one.
    id: uuidv7Named(of.minute, of.key),
    webhookId: webhook?.id ?? null,
    ingestKeyId: ingestKeyId ?? null,
    reason: of.reason,
    status: REASONS[of.reason].status,
    count: 1,
    audited: AUDITED.has(of.reason),
    ...latestOf(captured),
  }
}

function latestOf({ receivedAt, sourceIp, headers, asked }: Captured) {
  return {
    at: receivedAt,
    sourceIp: sourceIp ?? null,
    method: METHODS[asked.kind],
    contentType: headers['content-type']?.slice(0, LIMITS.rejectionContentTypeCharsMax) ?? null,
  }
}
