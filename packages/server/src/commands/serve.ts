import cluster from 'node:cluster'
import { shellWord } from '@postroad/contract/quoting'
import { boot, type Booted } from '../boot.ts'
import { outboundAllow, publicUrl, type Config } from '../config.ts'
import type { install } from '../resources/operate/installation/index.ts'
import { buildConsole } from './build-console.ts'
import { startStep, startSteps } from '../platform/start-steps.ts'
import { endOfParent, PARENT } from './parent.ts'
import { runWorkers } from './workers.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Runs the server until SIGINT, SIGTERM or SIGHUP, or until its launcher dies; a later signal ends it immediately. With
 * `PROCESSES` above 1, this process opens the database and supervises that many others, which share the port. Returns the
 * exit code.
 */
export function serveCommand(environment: Environment): Promise<number> {
  return serve(() => boot(environment, { mode: cluster.isWorker ? 'join' : 'own' }), environment[PARENT])
}

/** The same, but with the given boot function. */
export async function serve(bootUp: () => Promise<Booted>, parent?: string): Promise<number> {
  // Processes that share the port end with the one that supervises them.
  const ended = Promise.race([endOfProcess(), endOfParent(cluster.isWorker ? undefined : parent)])
  // When the terminal or the pipe closes, nothing reads the output. That must not end the server halfway.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  // If the supervising process is killed, a message to it fails. The end of the channel already ends this process.
  cluster.worker?.on('error', () => undefined)
  const booted = await bootUp()
  const { app, storage, config, log } = booted
  try {
    if (cluster.isPrimary) log.info('outbound.allowed', outboundFacts(config))
    if (config.PROCESSES > 1 && cluster.isPrimary) return await serveByWorkers(booted, ended)
    const { baseUrl } = await startStep('listen', () => app.start())
    if (cluster.isPrimary) {
      process.stdout.write(welcome(await startStep('endpoint', () => installed(app.deps)), baseUrl))
      buildConsole(log, ended)
    }
    log.info('server.started', { url: baseUrl, pid: process.pid, steps: startSteps() })
    await ended
    log.info('server.stopping', { pid: process.pid })
    return 0
  } finally {
    await app.stop(CLIENTS_MS)
    await storage.stop()
    // Without this, a worker that alone received a signal would stay alive for its channel to the supervising process.
    if (process.connected) cluster.worker?.disconnect()
  }
}

/** Loads the rooms that this needs only now, so that PostgreSQL does not wait for them. */
const installed: typeof install = async (deps) =>
  (await import('../resources/operate/installation/index.ts')).install(deps)

/** The log must show where deliveries may go. */
function outboundFacts(config: Config): { readonly ranges: string; readonly set_by: string } {
  const ranges = ['public internet', ...outboundAllow(config)].join(', ')
  return { ranges, set_by: config.OUTBOUND_ALLOW === undefined ? 'default' : 'OUTBOUND_ALLOW' }
}

async function serveByWorkers({ app, config, log }: Booted, ended: Promise<void>): Promise<number> {
  const workers = await runWorkers({ count: config.PROCESSES, roles: config.ROLES, log })
  const baseUrl = publicUrl(config, workers.port)
  process.stdout.write(welcome(await installed({ ...app.deps, baseUrl: () => baseUrl }), baseUrl))
  buildConsole(log, ended)
  await ended
  log.info('server.stopping', { pid: process.pid, processes: config.PROCESSES })
  await workers.stop()
  return 0
}

/** The time for clients to send their next request elsewhere. The server waits only while a client is connected. */
const CLIENTS_MS = 2_000

const SAME_WISH_MS = 1_000

/**
 * Resolves at the first signal; a later one ends the process immediately. The terminal sends Ctrl-C to every process,
 * and npm passes it on again, so a signal within a second of the first is the same one.
 */
function endOfProcess(): Promise<void> {
  const asked = Promise.withResolvers<void>()
  let firstAt: number | undefined
  const signaled = (): void => {
    const now = performance.now()
    firstAt ??= now
    if (now - firstAt > SAME_WISH_MS) process.exit(1)
    asked.resolve()
  }
  // SIGHUP: the terminal was closed. Without a handler, the process would leave PostgreSQL running.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, signaled)
  // The supervising process has let this one go, or has died.
  if (cluster.isWorker) process.once('disconnect', () => asked.resolve())
  if (cluster.isWorker && !process.connected) asked.resolve()
  return asked.promise
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
