import type { Announce } from './announce.ts'

/** Whose records were committed. */
export type RecordsOf = { readonly workspaceId: string; readonly projectId: string }

export type AnnounceRecordsOptions = {
  /** The live streams of this process. */
  readonly hint: (of: RecordsOf) => void
  /** The other processes, when there are any. */
  readonly tell: ((of: readonly RecordsOf[]) => void) | undefined
  readonly soon: (work: () => void) => void
}

/** A payload of NOTIFY holds 8,000 bytes; one of these takes about 110. */
const TOLD_MAX = 64

/** Wakes the live streams after a commit. A hint only: they look every second by themselves. */
export function createAnnounceRecords({ hint, tell, soon }: AnnounceRecordsOptions): Announce {
  const untold = new Map<string, RecordsOf>()
  const flush = (): void => {
    const projects = [...untold.values()].slice(0, TOLD_MAX)
    untold.clear()
    tell?.(projects)
  }
  return ({ event }) => {
    if (event.records.length === 0) return
    const { workspaceId, projectId } = event.verified.receiver.plan
    hint({ workspaceId, projectId })
    if (tell === undefined) return
    if (untold.size === 0) soon(flush)
    untold.set(projectId, { workspaceId, projectId })
  }
}
