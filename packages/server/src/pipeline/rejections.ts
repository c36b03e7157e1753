import { isLogged, LIMITS, REASONS } from '@postroad/contract'
import type { Deps } from '../context.ts'
import { DbError } from '../platform/db.ts'
import { uuidv7Named } from '../platform/ids.ts'
import { addRejections, type CountedRow } from '../resources/capture/rejections/queries.ts'
import { putSamples } from '../resources/capture/webhooks/refused-samples/queries.ts'
import { createSampleTaker, type Refused } from './sample-refusals.ts'
import type { Asked, Captured, Rejected } from './types.ts'

/** The rejection log of this process: it counts in memory and writes rows to the database a second later. */
export type Rejections = {
  /**
   * Counts a refusal of a request with a known credential, sometimes takes a sample of it, and returns the refusal with the id
   * of the row that counts it. Runs no statement and never fails.
   */
  note(of: Refused, rejected: Rejected): Rejected
  /** Writes the counts. Must be called every second, and once more at the end. */
  flush(): Promise<void>
  /** Refusals that no row counts, because there was no room for them or the answer of the database was lost. */
  readonly lost: number
}

export type RejectionsOptions = { readonly entriesMax?: number }

type Entry = { -readonly [Name in keyof CountedRow]: CountedRow[Name] }

/** The most credentials × reasons × minutes in memory at the same time: a few MB. */
const ENTRIES_MAX = 10_000
const ROWS_PER_STATEMENT = 1_000
const MINUTE_MS = 60_000
const AUDITED = new Set(['missing_header', 'bad_signature', 'stale_timestamp'])
const METHODS = { event: 'POST', handshake: 'GET', preflight: 'OPTIONS', probe: 'HEAD' } as const satisfies Record<
  Asked['kind'],
  string
>

/**
 * There is one entry for a credential, a reason and a minute, however many requests there were: a flood of forgeries costs a
 * counter in memory, and one row a second in one statement. A killed process loses the counts of its last second.
 */
export function createRejections(deps: Deps, { entriesMax = ENTRIES_MAX }: RejectionsOptions = {}): Rejections {
  let counted = new Map<string, Entry>()
  let lost = 0
  let running: Promise<void> = Promise.resolve()
  const samples = createSampleTaker(({ asked }) => METHODS[asked.kind])

  /** Returns whether there was room for it. */
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
        // Counts that may have been written are not written again, so a count never exceeds the real number.
        const unknown = cause instanceof DbError && cause.outcome === 'unknown'
        if (unknown) lost += countOf(some)
        for (const [key, entry] of taken.slice(unknown ? from + ROWS_PER_STATEMENT : from)) add(key, entry)
        throw cause
      }
    }
  }

  /** A sample that could not be written does not matter: the next minute brings another one. */
  const writeSamples = async (): Promise<void> => {
    const sampled = samples.taken()
    if (sampled.length > 0) await putSamples(deps.database, sampled)
  }

  /**
   * Writes both at the same time, because audit rows follow the counts within seconds. Neither waits for the other, and
   * a failure of either is reported.
   */
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
      // An event without a sender has no row here: its origin shows why it was refused.
      if (!isLogged(reason) || receiver.origin !== undefined || captured.again === true) return rejected
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
    // Derived from the subject of the row, so that all processes write the same row.
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
