import type { SourceSettings } from '@postroad/contract'
import type { SourceSecret } from '../../../domain/sources/secret.ts'

/** The settings of a source that is polled. */
export type PolledSettings = Exclude<SourceSettings, { kind: 'sse' | 'postgres_replication' }>

/** The settings of a source that is followed on an open connection. */
export type StreamSettings = Exclude<SourceSettings, PolledSettings>

/** A stream to follow. */
export type StreamAsked = {
  readonly id: string
  readonly settings: StreamSettings
  readonly secret: SourceSecret
  /** The position of the last batch; null: the source has not started. */
  readonly position: unknown
  readonly rowBytesMax: number
  readonly signal: AbortSignal
}

/** Items of a stream that arrived together. */
export type StreamBatch = {
  /** JSON texts; null for an item that is too large to be stored. */
  readonly items: readonly (string | null)[]
  /** The position after these items. */
  readonly position: unknown
  /** The pause before the next connection, if the other side named one. */
  readonly retryMs: number | undefined
}

/** A source to read. */
export type ReadAsked = {
  readonly settings: PolledSettings
  readonly secret: SourceSecret
  /** The position that the last read returned; null: the source has not started. */
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
  /** The position after these items, committed with them. */
  readonly position: unknown
  /** The pause until the next read; 0: none, because more is waiting. Undefined: at the pace of the settings. */
  readonly againInMs: number | undefined
}
