import type { Announce } from '../store/announce.ts'
import { createGather, type GatherOptions } from '../store/gather.ts'

/** The meaning of a commit for the engine: instances started, or records came that an instance may wait for. */
export type EngineHint = 'instances' | 'records'

export type AnnounceStartsOptions = GatherOptions<EngineHint> & {
  /** The engine of this process, when it has one. */
  readonly hint: ((about: EngineHint) => void) | undefined
}

/** Wakes the workflow engine after a commit. Only a hint: the engine checks every second anyway. */
export function createAnnounceStarts({ hint, ...others }: AnnounceStartsOptions): Announce {
  const gather = createGather(others)
  return ({ event }) => {
    if (event.records.length > 0) hint?.('records')
    if (event.starts.length === 0) return
    hint?.('instances')
    gather('instances', 'instances')
  }
}
