import type { Announce } from './announce.ts'
import { createGather, type GatherOptions } from './gather.ts'

/** The project whose records were committed. */
export type RecordsOf = { readonly workspaceId: string; readonly projectId: string }

export type AnnounceRecordsOptions = GatherOptions<RecordsOf> & {
  /** The live streams of this process. */
  readonly hint: (of: RecordsOf) => void
}

/** Wakes the live streams after a commit. Only a hint: they check every second anyway. */
export function createAnnounceRecords({ hint, ...others }: AnnounceRecordsOptions): Announce {
  const gather = createGather(others)
  return ({ event }) => {
    if (event.records.length === 0) return
    const { workspaceId, projectId } = event.verified.receiver.plan
    hint({ workspaceId, projectId })
    gather(projectId, { workspaceId, projectId })
  }
}
