import { isAlone } from '../config.ts'
import type { Deps } from '../context.ts'
import type { AcceptAll, Road } from '../pipeline/accept.ts'
import { createBuckets } from '../platform/buckets.ts'
import type { Directory } from '../pipeline/directory.ts'
import { createKeyUses } from '../pipeline/key-uses.ts'
import { createQuarantine } from '../pipeline/quarantine/take.ts'
import { createRepeats } from '../pipeline/repeats.ts'
import { createRejections, type Rejections } from '../pipeline/rejections.ts'
import { createAnnounceRecords } from '../pipeline/store/announce-records.ts'
import { createAnnounce, type Announce, type Lane } from '../pipeline/store/announce.ts'
import { createCommit, type Commit } from '../pipeline/store/commit.ts'
import { createFindRepeat } from '../pipeline/store/find-repeat.ts'
import { createOnce } from '../pipeline/store/once.ts'
import { createWaitForDatabase } from '../pipeline/store/wait-for-database.ts'
import type { BeginFirst } from '../pipeline/types.ts'
import type { Streams } from '../surfaces/stream/hub.ts'
import { createAnnounceStarts, type EngineHint } from '../pipeline/workflow/announce.ts'
import { CHANNELS } from './messages.ts'

/** The chaos runner plants faults in these; nothing else sets them. */
export type RoadPlants = {
  readonly commit?: (commit: Commit, deps: Deps) => Commit
  readonly rejections?: (rejections: Rejections) => Rejections
  readonly acceptAll?: (acceptAll: AcceptAll) => AcceptAll
}

type RoadParts = {
  readonly deps: Deps
  readonly directory: Directory
  readonly streams: Streams
  /** Undefined in a process that does not deliver. */
  readonly hint: ((lanes: readonly Lane[]) => void) | undefined
  /** As above. */
  readonly beginFirst: BeginFirst | undefined
  /** Undefined in a process without the role `work`. */
  readonly hintEngine: ((about: EngineHint) => void) | undefined
}

/** Messages about commits are gathered for this long. */
const GATHER_MS = 10

/**
 * Builds the road of an event. A single process does not announce its commits to other processes. The statements of requests wait for
 * a database that is away; those of the group commit do not, because an event that waits gets new ids.
 */
export function createRoad(
  plants: RoadPlants & { readonly isBeside?: (() => boolean) | undefined },
  { deps, directory, streams, hint, beginFirst, hintEngine }: RoadParts,
): Road {
  const commit = createCommit(deps, beginFirst)
  const isOnly = hint !== undefined && isAlone(deps.config)
  const soon = (work: () => void): (() => void) => deps.clock.wakeAt(deps.clock.now() + GATHER_MS, work)
  const notifyOn = (channel: string) =>
    isOnly && plants.isBeside === undefined
      ? undefined
      : (items: unknown) => {
          if (!isOnly || plants.isBeside?.() === true) deps.wakeups.tell(channel, JSON.stringify(items))
        }
  const announceLanes = createAnnounce({ hint, notify: notifyOn(CHANNELS.lanes), soon })
  const announceRecords = createAnnounceRecords({
    hint: (of) => streams.committed(of),
    notify: notifyOn(CHANNELS.records),
    soon,
  })
  const announceStarts = createAnnounceStarts({ hint: hintEngine, notify: notifyOn(CHANNELS.starts), soon })
  const announce: Announce = (stored) => {
    announceLanes(stored)
    announceRecords(stored)
    announceStarts(stored)
  }
  const rejections = createRejections(deps)
  return {
    ...deps,
    database: deps.database.patient,
    directory,
    buckets: createBuckets(),
    once: createOnce(deps.clock),
    keyUses: createKeyUses(deps),
    rejections: plants.rejections?.(rejections) ?? rejections,
    repeats: createRepeats(deps),
    quarantine: createQuarantine(deps),
    commit: plants.commit?.(commit, deps) ?? commit,
    findRepeat: createFindRepeat(deps),
    waitForDatabase: createWaitForDatabase(deps),
    announce,
  }
}
