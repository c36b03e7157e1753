import type { SourceSettings } from '@postroad/contract'
import type { SourceSecret } from '../../../domain/sources/secret.ts'
import type { Deps } from '../../../context.ts'
import { readDatabaseSource } from './database.ts'

/** A source to read. */
export type ReadAsked = {
  readonly settings: SourceSettings
  readonly secret: SourceSecret
  /** As the last read returned it; null: the source has not begun. */
  readonly position: unknown
  readonly itemsMax: number
  readonly rowBytesMax: number
  readonly signal: AbortSignal
}

export type ReadResult = {
  /** JSON texts, oldest first; null for an item that cannot be stored. */
  readonly items: readonly (string | null)[]
  /** To be committed with the items. */
  readonly position: unknown
  /** When to read again, in milliseconds; 0: at once, because more is waiting. Undefined: at the pace of the settings. */
  readonly againInMs: number | undefined
}

/** A read that has not ended by then is broken off. It is shorter than the lease of its claim. */
const READ_MS_MAX = 45_000

/** Reads what is new. Rejects with `SourceFailure` when the other system, or a setting, is at fault. */
export function readSource(deps: Pick<Deps, 'reach' | 'clock'>, asked: ReadAsked): Promise<ReadResult> {
  const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(READ_MS_MAX)])
  return readDatabaseSource(deps, { ...asked, signal, settings: asked.settings })
}
