import type { Deps } from '../../../context.ts'
import { readDatabaseSource } from './database.ts'
import { readHttpPoll } from './http-poll.ts'
import { readReplication, type ReplicationPosition } from './replication.ts'
import { readSse, type SsePosition } from './sse.ts'
import type { ReadAsked, ReadResult, StreamAsked, StreamBatch } from './types.ts'

/** A read that takes longer than this is broken off. The limit is shorter than the lease of the claim. */
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

/** Follows a source that is a stream, from its position on. Rejects with `ForeignFailure` as `readSource` does. */
export function followSource(
  deps: Pick<Deps, 'reach' | 'clock' | 'deliveryUserAgent'>,
  { settings, position, ...asked }: StreamAsked,
): AsyncGenerator<StreamBatch> {
  return settings.kind === 'sse'
    ? // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- readSse wrote it
      readSse(deps, { ...asked, settings, position: (position as SsePosition | null) ?? { last_event_id: null } })
    : // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- readReplication wrote it
      readReplication(deps, { ...asked, settings, position: position as ReplicationPosition | null })
}
