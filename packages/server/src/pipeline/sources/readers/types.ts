import type { SourceSettings } from '@postroad/contract'
import type { SourceSecret } from '../../../domain/sources/secret.ts'

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
