import type { CloseReason } from '@postroad/contract'
import { eventText, messageText, type Dialect, type Frame } from './frame.ts'

/** One client's connection, in either format. */
export type Wire = {
  readonly dialect: Dialect
  /** Aborts when the connection has ended, on either side. */
  readonly gone: AbortSignal
  /** Bytes that the client has not taken yet. */
  backlogBytes(): number
  write(parcel: Parcel): void
  /** Resolves when the client has taken what was written, or has gone. */
  flushed(): Promise<void>
  /** Sends a keepalive: a comment every 15 s, a ping every 30 s. */
  beat(cursor: string | undefined): void
  /** Sends the reason, and closes the connection. */
  close(reason: CloseReason): void
}

/** Frames as bytes: one buffer for SSE, one for each frame for a WebSocket. Clients that get the same frames share them. */
export type Parcel = readonly Buffer[]

export function packed(dialect: Dialect, frames: readonly Frame[]): Parcel {
  if (frames.length === 0) return []
  if (dialect === 'web_socket') return frames.map((frame) => Buffer.from(messageText(frame)))
  return [Buffer.from(frames.map(eventText).join(''))]
}

/** A client that takes nothing for this long after the end is cut off. */
export const LINGER_MS = 2_000
