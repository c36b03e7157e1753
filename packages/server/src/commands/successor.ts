import { spawn, type ChildProcess } from 'node:child_process'
import type { ListeningSocket } from '../surfaces/listening.ts'
import { PARENT } from './parent.ts'

/**
 * A process that takes the port over from a running one, so that a new release starts without a failed request. The older process
 * starts it, gives it the listening sockets once it could serve, and then ends its own part. The sockets are open all the time, so
 * connections wait in them and none is refused.
 */

/** The program that was started, set by the launcher. It is no setting: without it, the program of this process is started again. */
const ENTRY = 'POSTROAD_ENTRY'
/** Set for a process that takes over. */
const SUCCEEDS = 'POSTROAD_SUCCEEDS'

/** The program as it is installed now, which may be newer than this process. */
export const installedProgram = (environment: Environment): string => environment[ENTRY] ?? process.argv[1] ?? ''

type Environment = Readonly<Record<string, string | undefined>>
type Word = 'ready' | 'listening' | 'alone' | 'hand_over' | 'listener'
type Message = { readonly postroad: Word; readonly of?: number }

/** The newer process, as the older one sees it. */
export type Successor = {
  readonly pid: number | undefined
  /** Resolves when it listens; rejects when it ended before. */
  readonly listening: Promise<void>
  readonly ended: Promise<Ended>
  /** Its listening sockets, for the next successor. It goes on listening. */
  listeners(): Promise<readonly ListeningSocket[]>
  /** Says that no older process serves any more. */
  isAlone(): void
  signal(signal: NodeJS.Signals): void
}
export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null }

/** Starts the installed program. It gets the sockets when it could serve. `isOwn`: they are this process's, which still needs them. */
export function startSuccessor(
  environment: Environment,
  given: { readonly listeners: () => Promise<readonly ListeningSocket[]>; readonly isOwn: boolean },
): Successor {
  const { execArgv, execPath, pid } = process
  const child = spawn(execPath, [...execArgv, installedProgram(environment), 'serve'], {
    env: { ...environment, [SUCCEEDS]: '1', [PARENT]: String(pid) },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  const [listening, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<Ended>()]
  // A caller may wait for its end only.
  listening.promise.catch(() => undefined)
  const handOver = async (): Promise<void> => {
    const sockets = await given.listeners()
    await give(child, sockets)
    if (!given.isOwn) for (const socket of sockets) socket.close()
  }
  child.on('message', ({ postroad }: Message) => {
    if (postroad === 'listening') listening.resolve()
    if (postroad === 'ready') handOver().catch(listening.reject)
  })
  child.on('error', (error) => {
    listening.reject(error)
    ended.resolve({ code: 1, signal: null })
  })
  child.on('exit', (code, signal) => {
    listening.reject(new Error('The new process ended before it served. Its own log line gives the reason.'))
    ended.resolve({ code, signal })
  })
  return {
    pid: child.pid,
    listening: listening.promise,
    ended: ended.promise,
    listeners: () => ask(child, 'hand_over'),
    isAlone: () => void say(child, { postroad: 'alone' }),
    signal: (signal) => void child.kill(signal),
  }
}

/** The older process, as the newer one sees it. */
export type Predecessor = {
  /** Says that this process could serve, and gets the sockets. */
  listeners(): Promise<readonly ListeningSocket[]>
  /** Says that this process listens, with these sockets. */
  listens(own: () => readonly ListeningSocket[]): void
  /** Whether the older process still serves. */
  isServing(): boolean
}

/** undefined: this process takes nothing over. */
export function findPredecessor(environment: Environment): Predecessor | undefined {
  if (environment[SUCCEEDS] === undefined || process.send === undefined) return undefined
  let serving = true
  process.on('disconnect', () => (serving = false))
  return {
    listeners: () => ask(process, 'ready'),
    listens: (own) => {
      process.on('message', ({ postroad }: Message) => {
        if (postroad === 'alone') serving = false
        if (postroad === 'hand_over') void give(process, own())
      })
      void say(process, { postroad: 'listening' })
    },
    isServing: () => serving,
  }
}

type Channel = Pick<ChildProcess | NodeJS.Process, 'send' | 'on' | 'off'>

/** A message to a process that has ended is lost. Its end is noticed anyway. */
function say(to: Channel, message: Message, socket?: ListeningSocket): Promise<void> {
  return new Promise((resolve) => {
    // The channel passes the socket itself, so that nobody accepts a connection on the way. Its type is not public.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    const sent = to.send?.(message, socket as never, {}, () => resolve())
    if (sent === undefined) resolve()
  })
}

async function give(to: Channel, sockets: readonly ListeningSocket[]): Promise<void> {
  await Promise.all(sockets.map((socket) => say(to, { postroad: 'listener', of: sockets.length }, socket)))
}

/** Asks the other process for its sockets, and resolves with all of them. */
function ask(other: Channel, word: 'ready' | 'hand_over'): Promise<readonly ListeningSocket[]> {
  return new Promise((resolve) => {
    const got: ListeningSocket[] = []
    const take = (message: Message, socket: unknown): void => {
      if (message.postroad !== 'listener') return
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only sockets come with this message
      got.push(socket as ListeningSocket)
      if (got.length < (message.of ?? 0)) return
      other.off('message', take)
      resolve(got)
    }
    other.on('message', take)
    void say(other, { postroad: word })
  })
}
