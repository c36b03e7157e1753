import type { Deps } from '../../../context.ts'
import { readDatabaseSource } from './database.ts'
import { readHttpPoll } from './http-poll.ts'
import type { ReadAsked, ReadResult } from './types.ts'

/** A read that has not ended by then is broken off. It is shorter than the lease of its claim. */
const READ_MS_MAX = 45_000

/** Reads the new items. Rejects with `ForeignFailure` when the other system, or a setting, is at fault. */
export function readSource(
  deps: Pick<Deps, 'reach' | 'clock' | 'deliveryUserAgent'>,
  asked: ReadAsked,
): Promise<ReadResult> {
  const { settings } = asked
  const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(READ_MS_MAX)])
  return settings.kind === 'http_poll'
    ? readHttpPoll(deps, { ...asked, signal, settings })
    : readDatabaseSource(deps, { ...asked, signal, settings })
}
