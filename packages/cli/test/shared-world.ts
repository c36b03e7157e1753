import { aWorld, type World } from '../../server/test/stage/harness.ts'

/** One server for all test files of this process. Each file has a separate workspace there (`server-stage.ts`). */
let shared: Promise<World> | undefined
let users = 0
let ending: NodeJS.Timeout | undefined

/** The next file enters at once, or there is none. */
const LINGER_MS = 250

/** A server whose clock starts now, because the command line has the time of this machine. */
export const aServer = (): Promise<World> =>
  aWorld({
    now: Date.now(),
    env: { AGENT_WORK: '4096' },
    // Commands wait for what these do.
    loops: ['rejections.flush', 'data_export', 'replays.advance'],
  })

export function enterWorld(): Promise<World> {
  clearTimeout(ending)
  users += 1
  shared ??= aServer()
  return shared
}

/** After the last file the server stops, so that the process ends. */
export function leaveWorld(): void {
  users -= 1
  if (users > 0) return
  ending = setTimeout(() => {
    const last = shared
    shared = undefined
    void last?.then((world) => world.stop())
  }, LINGER_MS)
}
