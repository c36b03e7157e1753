import type { CloseReason } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import type { Position } from '../../domain/serving/stream-cursor.ts'
import { createStreamReader } from '../../resources/serving/stream/index.ts'
import { Feed } from './feed.ts'
import { createPlaces, type Places } from './places.ts'
import { Session, type Tail } from './session.ts'
import type { Wire } from './wire.ts'

const LOOK_MS = 250

/** All streams of this process. */
export type Streams = {
  /** Hints that records of this project were committed, in this process or another one. */
  committed(of: { readonly workspaceId: string; readonly projectId: string }): void
  readonly places: Places
  /** Serves a client until it leaves or is cut off. `open` sends the response, once the start position is known. */
  serve(tail: Tail, open: (start: Position) => Promise<Wire>): Promise<void>
  /** The number of clients, for the gauge. */
  count(): number
  start(): void
  /** Notifies every client, and accepts no new one. */
  close(): void
}

type Open = { readonly feed: Feed; users: number }

export function createStreams(deps: Deps): Streams {
  const reader = createStreamReader(deps)
  const feeds = new Map<string, Open>()
  const sessions = new Set<Session>()
  const places = createPlaces(deps)
  let closed = false
  let cancel = nothing

  const look = (): void => {
    if (closed) return
    const now = deps.clock.now()
    for (const session of sessions) {
      session.beat(now)
      endIfOver(deps, session)
    }
    places.confirm(now)
    cancel = deps.clock.wakeAt(now + LOOK_MS, look)
  }

  return {
    places,
    committed: ({ workspaceId, projectId }) => {
      for (const requests of [false, true]) {
        feeds.get(keyOf({ scope: { workspaceId, projectId }, requests }))?.feed.hint()
        feeds.get(keyOf({ scope: { workspaceId, projectId: null }, requests }))?.feed.hint()
      }
    },
    serve: async (tail, open) => {
      const key = keyOf(tail)
      const used = feeds.get(key) ?? { feed: new Feed(deps, reader, tail), users: 0 }
      feeds.set(key, used)
      used.users += 1
      const { feed } = used
      // Buffering starts before the position is read, so that nothing in between is missed.
      const hold = feed.hold()
      try {
        await feed.ready
        const position = tail.from === 'now' ? await reader.now() : tail.from
        const wire = await open(position)
        if (closed) return wire.close('shutdown')
        const session = new Session({ deps, reader, feed, wire }, tail, { position, hold })
        sessions.add(session)
        await session.run()
        sessions.delete(session)
      } finally {
        hold.cancel()
        used.users -= 1
        if (used.users === 0) {
          feed.stop()
          feeds.delete(key)
        }
      }
    },
    count: () => sessions.size,
    start: look,
    close: () => {
      closed = true
      cancel()
      for (const session of sessions) session.close('shutdown')
      for (const { feed } of feeds.values()) feed.stop()
    },
  }
}

/** Without a result the client stays, because a short outage of the database does not end its permission. */
function endIfOver(deps: Deps, session: Session): void {
  const why = session.tail.closeReason()
  if (why instanceof Promise) {
    why
      .then((reason) => end(session, reason))
      .catch((cause: unknown) => deps.retryLog.warn('stream.not_checked', { cause }))
  } else {
    end(session, why)
  }
}

function end(session: Session, reason: CloseReason | undefined): void {
  if (reason !== undefined) session.close(reason)
}

/** Clients that want requests share a separate feed, so that nobody else pays for reading them. */
const keyOf = ({ scope: { workspaceId, projectId }, requests }: Pick<Tail, 'scope' | 'requests'>): string =>
  `${workspaceId} ${projectId ?? 'all'} ${requests ? 'requests' : 'records'}`

function nothing(): void {
  // There is no timer to cancel yet.
}
