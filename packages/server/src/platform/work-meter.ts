import type { Clock } from './clock.ts'
import { charged, waitMsOf, type Bucket, type BucketLimit } from './token-bucket.ts'

/** The work that a payer may do: milliseconds of processor time a second, and at once after a rest. 0 a second: no limit. */
export type WorkLimit = { readonly work_ms_per_second: number; readonly work_burst_ms: number }

/**
 * Work is the currency of everything that a tenant starts: milliseconds of processor time. A payer is a workspace, for all
 * surfaces together, or the credential of an ingest request, because anybody can post to a URL.
 */
export type WorkMeter = {
  /** 0, or the milliseconds until the payer may start something again. */
  waitMs(payer: string, limit: WorkLimit): number
  /** Charges what was done. The cost is known only afterwards, so a payer can owe work. */
  charge(payer: string, ms: number): void
  readonly load: () => WorkLoad
}

export type WorkLoad = {
  readonly chargedMs: number
  /** How often a payer had to wait. */
  readonly refused: number
}

type Account = { limit: BucketLimit; bucket: Bucket | undefined }

const PAYERS_MAX = 50_000

/**
 * Each process counts on its own, as for the other rates. Payers with a limit have an account from their first request on; what
 * others do is not counted. When there are too many, the oldest one starts full again.
 */
export function createWorkMeter({ now }: Pick<Clock, 'now'>): WorkMeter {
  const accounts = new Map<string, Account>()
  let [chargedMs, refused] = [0, 0]
  return {
    waitMs: (payer, { work_ms_per_second: perSecond, work_burst_ms: burst }) => {
      if (perSecond === 0) {
        accounts.delete(payer)
        return 0
      }
      const account = accounts.get(payer)
      const limit = { perSecond, burst }
      if (account === undefined) {
        if (accounts.size >= PAYERS_MAX) dropOldest(accounts)
        accounts.set(payer, { limit, bucket: undefined })
        return 0
      }
      account.limit = limit
      const waitMs = waitMsOf(account.bucket, { ...limit, now: now() })
      if (waitMs > 0) refused += 1
      return waitMs
    },
    charge: (payer, ms) => {
      const account = accounts.get(payer)
      if (account === undefined) return
      chargedMs += ms
      account.bucket = charged(account.bucket, { ...account.limit, now: now(), tokens: ms })
    },
    load: () => ({ chargedMs, refused }),
  }
}

function dropOldest(accounts: Map<string, Account>): void {
  for (const oldest of accounts.keys()) {
    accounts.delete(oldest)
    return
  }
}

/** A request without a body costs about this much on the loop: its checks, its statements, its response. */
const REQUEST_MS = 1
/** The loop parses, checks and writes about this much JSON in a millisecond. */
const BYTES_PER_MS = 20_000

/** The cost of one request on the loop, by what it read and wrote. */
export const costOfRequest = (bytes: number): number => REQUEST_MS + bytes / BYTES_PER_MS

/** A refused event costs this much, because it takes nothing from a quota; an accepted one costs its bytes. */
const REFUSED_MS = 0.2
/** Ingest only finds out what a body is; the inflated bytes count. */
const INGEST_BYTES_PER_MS = 200_000

export const costOfIngest = ({ bytes, isRefused }: { readonly bytes: number; readonly isRefused: boolean }): number =>
  (isRefused ? REFUSED_MS : 0) + bytes / INGEST_BYTES_PER_MS
