import cluster from 'node:cluster'
import { boot, type Booted } from '../boot.ts'
import { publicUrl } from '../config.ts'
import { bootstrap, type Bootstrapped } from '../resources/installation/index.ts'
import { runWorkers } from './workers.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Runs the server until SIGINT or SIGTERM; a second signal ends it at once. With `PROCESSES` above 1 this process opens
 * the database and minds that many others, which share the port. Gives the exit code.
 */
export async function serveCommand(environment: Environment): Promise<number> {
  const ended = endOfProcess()
  const booted = await boot(environment, { mode: cluster.isWorker ? 'join' : 'own' })
  const { app, storage, config, log } = booted
  try {
    if (config.PROCESSES > 1 && cluster.isPrimary) return await serveByWorkers(booted, ended)
    const { baseUrl } = await app.start()
    if (cluster.isPrimary) process.stdout.write(welcome(await bootstrap(app.deps)))
    log.info('server.started', { url: baseUrl, pid: process.pid })
    await ended
    log.info('server.stopping', { pid: process.pid })
    return 0
  } finally {
    await app.stop()
    await storage.stop()
  }
}

async function serveByWorkers({ app, config, log }: Booted, ended: Promise<void>): Promise<number> {
  const workers = await runWorkers({ count: config.PROCESSES, roles: config.ROLES, log })
  const installed = await bootstrap({ ...app.deps, baseUrl: () => publicUrl(config, workers.port) })
  process.stdout.write(welcome(installed))
  await ended
  log.info('server.stopping', { pid: process.pid, processes: config.PROCESSES })
  await workers.stop()
  return 0
}

/** Resolves at the first signal that asks for the end. */
function endOfProcess(): Promise<void> {
  const asked = Promise.withResolvers<void>()
  let signals = 0
  const signalled = (): void => {
    signals += 1
    if (signals === 1) asked.resolve()
    else process.exit(1)
  }
  process.on('SIGINT', signalled)
  process.on('SIGTERM', signalled)
  // The process that minds this one lets it go, or has died.
  if (cluster.isWorker) process.once('disconnect', () => asked.resolve())
  if (cluster.isWorker && !process.connected) asked.resolve()
  return asked.promise
}

/** The three lines of a first run, and of every later one: where to look, where to send, and how. */
function welcome({ webhook, sign_in_url }: Bootstrapped): string {
  const url = webhook.public_url
  return [
    '',
    `  Console    ${sign_in_url}`,
    `  Endpoint   ${url}`,
    `  Try it     curl -H 'Content-Type: application/json' -d '{"hello":"world"}' ${url}`,
    '',
    '',
  ].join('\n')
}
