import type { SourceSettings } from '@postroad/contract'
import type { SourceSecret } from '../../../domain/sources/secret.ts'
import type { Deps } from '../../../context.ts'
import { readDatabaseSource } from './database.ts'
import { readHttpPoll } from './http-poll.ts'

/** The settings of a source that is polled. */
export type PolledSettings = Exclude<SourceSettings, { kind: 'sse' }>

/** A source to read. */
export type ReadAsked = {
  readonly settings: PolledSettings
  readonly secret: SourceSecret
  /** As the last read returned it; null: the source has not begun. */
  readonly position: unknown
  readonly itemsMax: number
  readonly rowBytesMax: number
  readonly signal: AbortSignal
}

/** `text` is JSON, or null for an item that is too large to be stored. Items with the same `key` are filed once. */
export type ReadItem = { readonly text: string | null; readonly key: string | null }

export type ReadResult = {
  /** Oldest first. */
  readonly items: readonly ReadItem[]
  /** To be committed with the items. */
  readonly position: unknown
  /** When to read again, in milliseconds; 0: at once, because more is waiting. Undefined: at the pace of the settings. */
  readonly againInMs: number | undefined
}

/** A read that has not ended by then is broken off. It is shorter than the lease of its claim. */
const READ_MS_MAX = 45_000

/** Reads what is new. Rejects with `SourceFailure` when the other system, or a setting, is at fault. */
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
