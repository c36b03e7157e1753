import cluster from 'node:cluster'
import { on } from 'node:events'
import { shellWord } from '@postroad/contract/quoting'
import { boot, type Booted } from '../boot.ts'
import { outboundAllow, publicUrl, type Config } from '../config.ts'
import type { install } from '../resources/operate/installation/index.ts'
import { buildConsole } from './build-console.ts'
import type { Log } from '../platform/log.ts'
import { startStep, startSteps } from '../platform/start-steps.ts'
import { endOfParent, PARENT } from './parent.ts'
import { findPredecessor, installedProgram, startSuccessor, type Predecessor, type Successor } from './successor.ts'
import { runWorkers } from './workers.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Runs the server until SIGINT or SIGTERM, or until its launcher dies; a later signal ends it immediately. SIGHUP lets the installed
 * program take the port over. With `PROCESSES` above 1, it supervises that many others, which share the port. Returns the exit code.
 */
export function serveCommand(environment: Environment): Promise<number> {
  return serve((how) => boot(environment, how), environment)
}

/** The processes around this one, and the signals from outside. */
type Life = Signals & {
  readonly environment: Environment
  /** The process that this one takes over from. */
  readonly before: Predecessor | undefined
  /** Another process is about to take over. */
  readonly handing: (is: boolean) => void
}

/** The same, but with the given boot function. */
export async function serve(
  bootUp: (how: { readonly mode: 'own' | 'join'; readonly isBeside: () => boolean }) => Promise<Booted>,
  environment: Environment,
): Promise<number> {
  const before = findPredecessor(environment)
  const { asked, hangups } = signals()
  // Processes that share the port end with the one that supervises them.
  const ended = Promise.race([asked, endOfParent(cluster.isWorker ? undefined : environment[PARENT])])
  // When the terminal or the pipe closes, nothing reads the output. That must not end the server halfway.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  // If the supervising process is killed, a message to it fails. The end of the channel already ends this process.
  cluster.worker?.on('error', () => undefined)
  let isHandingOver = false
  const mode = cluster.isWorker || before !== undefined ? 'join' : 'own'
  const booted = await bootUp({ mode, isBeside: () => isHandingOver || before?.isServing() === true })
  try {
    return await live(booted, { environment, ended, hangups, before, handing: (is) => void (isHandingOver = is) })
  } finally {
    await booted.app.stop(CLIENTS_MS)
    await booted.storage.stop()
    leaveChannel()
  }
}

async function live(booted: Booted, life: Life): Promise<number> {
  const { app, config, log } = booted
  if (cluster.isPrimary && life.before === undefined) log.info('outbound.allowed', outboundFacts(config))
  if (config.PROCESSES > 1 && cluster.isPrimary) return serveByWorkers(booted, life)
  await begin(booted, life)
  const successor = await untilTakenOver(booted, life)
  log.info('server.stopping', { pid: process.pid, successor: successor?.pid })
  await app.stop(CLIENTS_MS)
  return successor === undefined ? 0 : mind(successor, { ...life, log })
}

async function begin({ app, log }: Booted, { before, ended, handing }: Life): Promise<void> {
  const { baseUrl } = await startStep('listen', async () => app.start(await before?.listeners()))
  before?.listens(() => {
    handing(true)
    return app.sockets()
  })
  if (cluster.isPrimary && before === undefined)
    process.stdout.write(welcome(await startStep('endpoint', () => installed(app.deps)), baseUrl))
  if (cluster.isPrimary) buildConsole(log, ended)
  log.info('server.started', { url: baseUrl, pid: process.pid, steps: startSteps() })
}

/** Without this, a process that alone received a signal would stay alive for its channel to the one that started it. */
function leaveChannel(): void {
  if (!process.connected) return
  if (cluster.worker === undefined) process.disconnect?.()
  else cluster.worker.disconnect()
}

/** Loads the rooms that this needs only now, so that PostgreSQL does not wait for them. */
const installed: typeof install = async (deps) =>
  (await import('../resources/operate/installation/index.ts')).install(deps)

/** The log must show where deliveries may go. */
function outboundFacts(config: Config): { readonly ranges: string; readonly set_by: string } {
  const ranges = ['public internet', ...outboundAllow(config)].join(', ')
  return { ranges, set_by: config.OUTBOUND_ALLOW === undefined ? 'default' : 'OUTBOUND_ALLOW' }
}

async function serveByWorkers({ app, config, log }: Booted, { environment, ended, hangups }: Life): Promise<number> {
  const workers = await runWorkers({
    count: config.PROCESSES,
    roles: config.ROLES,
    log,
    installed: installedProgram(environment),
  })
  const baseUrl = publicUrl(config, workers.port)
  process.stdout.write(welcome(await installed({ ...app.deps, baseUrl: () => baseUrl }), baseUrl))
  buildConsole(log, ended)
  while ((await Promise.race([ended, hangups.next()])) === 'hang_up') await workers.renew()
  log.info('server.stopping', { pid: process.pid, processes: config.PROCESSES })
  await workers.stop()
  return 0
}

/** Resolves with the process that has taken the port over; undefined: this one ends, and no other serves. */
async function untilTakenOver(
  { app, log }: Booted,
  { environment, ended, hangups, handing }: Life,
): Promise<Successor | undefined> {
  const listeners = async (): ReturnType<Successor['listeners']> => {
    handing(true)
    return app.sockets()
  }
  while ((await Promise.race([ended, hangups.next()])) === 'hang_up') {
    const successor = startSuccessor(environment, { listeners, isOwn: true })
    if (await serves(successor, { ended, log })) return successor
    handing(false)
  }
  return undefined
}

/**
 * The rest of a process whose port was taken over: it runs the embedded PostgreSQL, passes signals on, and starts the next
 * successor. The launcher still has the same process. Returns the exit code.
 */
async function mind(
  first: Successor,
  { environment, ended, hangups, log }: Life & { readonly log: Log },
): Promise<number> {
  let current = first
  current.isAlone()
  for (;;) {
    const what = await Promise.race([ended, hangups.next(), current.ended])
    if (what === undefined) {
      current.signal('SIGTERM')
      return (await current.ended).code ?? 1
    }
    // The process that serves has ended by itself.
    if (what !== 'hang_up') return what.code ?? 1
    const next = startSuccessor(environment, { listeners: () => current.listeners(), isOwn: false })
    if (!(await serves(next, { ended, log }))) continue
    current.signal('SIGTERM')
    await current.ended
    current = next
    current.isAlone()
  }
}

/** Whether a new process has taken over. If it cannot, the present one goes on. */
async function serves(
  successor: Successor,
  { ended, log }: { readonly ended: Promise<void>; readonly log: Log },
): Promise<boolean> {
  try {
    await Promise.race([
      successor.listening,
      ended.then(() => Promise.reject(new Error('This process was asked to end.'))),
    ])
    return true
  } catch (cause) {
    log.error('server.not_taken_over', { cause })
    successor.signal('SIGTERM')
    await successor.ended
    return false
  }
}

/** The time for clients to send their next request elsewhere. The server waits only while a client is connected. */
const CLIENTS_MS = 2_000

const SAME_WISH_MS = 1_000

type Hangups = { next(): Promise<'hang_up'> }
type Signals = { readonly ended: Promise<void>; readonly hangups: Hangups }

/**
 * `asked` resolves at the first signal to end; a later one ends the process immediately. The terminal sends Ctrl-C to every process,
 * and npm passes it on again, so a signal within a second of the first is the same one. SIGHUP asks for a successor, unless the
 * process has a terminal, which was then closed; without a handler, the process would leave PostgreSQL running.
 */
function signals(): { readonly asked: Promise<void>; readonly hangups: Hangups } {
  const asked = Promise.withResolvers<void>()
  let firstAt: number | undefined
  const signaled = (): void => {
    const now = performance.now()
    firstAt ??= now
    if (now - firstAt > SAME_WISH_MS) process.exit(1)
    asked.resolve()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, signaled)
  const takesOver = cluster.isPrimary && !process.stdin.isTTY && !process.stdout.isTTY
  const hungUp = takesOver ? on(process, 'SIGHUP') : undefined
  if (hungUp === undefined) process.on('SIGHUP', signaled)
  // The supervising process has let this one go, or has died.
  if (cluster.isWorker) process.once('disconnect', () => asked.resolve())
  if (cluster.isWorker && !process.connected) asked.resolve()
  const never = new Promise<never>(() => undefined)
  const next = async (): Promise<'hang_up'> => {
    await (hungUp?.next() ?? never)
    return 'hang_up'
  }
  return { asked: asked.promise, hangups: { next: oneAtATime(next) } }
}

/** A call while one is under way gets its result, so that no signal is lost to a caller that no longer waits. */
function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined
  return () =>
    (underWay ??= work().finally(() => {
      underWay = undefined
    }))
}

/** The addresses and a command to try. Only the first start prints the sign-in link. */
function welcome({ webhook, sign_in_url }: Awaited<ReturnType<typeof install>>, baseUrl: string): string {
  const url = webhook.public_url
  return [
    '',
    `  Console    ${sign_in_url ?? `${baseUrl}/`}`,
    `  Endpoint   ${url}`,
    `  Try it     curl -H 'Content-Type: application/json' --data-raw '{"hello":"world"}' ${shellWord(url)}`,
    ...(sign_in_url === undefined ? ['  Sign in    npx postroad sign-in-link'] : []),
    '',
    '',
  ].join('\n')
}
