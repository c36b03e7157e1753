/**
 * The process id of the launcher, set by `npm start` and by `postroad` under an older Node. It is no setting: only the program that
 * starts the server knows the value.
 */
export const PARENT = 'POSTROAD_PARENT'

const LOOK_MS = 500

/**
 * Resolves when the launcher has died. Nothing signals that, but the system then gives this process another parent. Without it, the
 * server of a killed npm would run on, and nobody could find it. A server without a launcher runs until it is asked to stop.
 */
export function endOfParent(pid: string | undefined): Promise<void> {
  const gone = Promise.withResolvers<void>()
  if (pid === undefined) return gone.promise
  const look = (): void => {
    if (String(process.ppid) === pid) return
    clearInterval(timer)
    gone.resolve()
  }
  const timer = setInterval(look, LOOK_MS).unref()
  look()
  return gone.promise
}
