import cluster, { type Worker } from 'node:cluster'
import type { Config } from '../config.ts'
import type { Log } from '../platform/log.ts'

export type Workers = {
  readonly port: number
  /** Replaces one process after the other by the installed program; each ends when its successor listens. */
  renew(): Promise<void>
  stop(): Promise<void>
}

const RESTART_MS = 1_000

/**
 * Starts `count` processes that share the port, and resolves when all listen. A process that ends is replaced after a
 * second, so clients do not notice a restart by SIGTERM to one process after another. A process that fails by itself
 * before it listens would fail again, so the whole start fails. Only the first process has the role `work`.
 */
export async function runWorkers(options: {
  count: number
  roles: Config['ROLES']
  log: Log
  /** The program for processes that replace others later. */
  installed: string
}): Promise<Workers> {
  const { count, roles, log } = options
  // Each worker accepts connections from the port itself. If this process handed them out, connections on their way to a dying
  // worker would hang.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const living = new Map<Worker, number>()
  /** Those that nobody replaces when they end. */
  const released = new WeakSet<Worker>()
  const listens = new WeakSet<Worker>()
  let stopping = false

  const fork = (index: number, port: PromiseWithResolvers<number>): Worker => {
    const own = index === 0 ? roles : roles.filter((role) => role !== 'work')
    const worker = cluster.fork({ ROLES: own.join(',') })
    living.set(worker, index)
    worker.once('listening', (address) => {
      listens.add(worker)
      port.resolve(address.port)
    })
    worker.on('exit', (code, signal) => {
      living.delete(worker)
      if (stopping || released.has(worker)) return
      const ended = { pid: worker.process.pid, code, signal }
      if (code === 0) log.info('worker.ended', ended)
      else log.error('worker.died', ended)
      if (signal === null && code !== 0)
        port.reject(new Error('A server process ended before it listened. Its own log line above gives the reason.'))
      setTimeout(() => {
        if (!stopping && !released.has(worker)) fork(index, port)
      }, RESTART_MS)
    })
    return worker
  }

  const listening = (index: number): Promise<number> => {
    const port = Promise.withResolvers<number>()
    fork(index, port)
    return port.promise
  }

  const renew = async (): Promise<void> => {
    cluster.setupPrimary({ exec: options.installed })
    for (const [worker, index] of Array.from(living)) {
      const port = Promise.withResolvers<number>()
      const next = fork(index, port)
      try {
        // oxlint-disable-next-line no-await-in-loop -- one process after the other
        await port.promise
        released.add(worker)
        // oxlint-disable-next-line no-await-in-loop -- as above
        await end(worker, true)
      } catch (cause) {
        // The present process goes on.
        released.add(next)
        log.error('worker.not_replaced', { pid: worker.process.pid, cause })
      }
    }
  }

  const stop = async (): Promise<void> => {
    stopping = true
    await Promise.all([...living.keys()].map((worker) => end(worker, listens.has(worker))))
  }

  try {
    const ports = await Promise.all(Array.from({ length: count }, (_none, index) => listening(index)))
    return { port: ports[0] ?? 0, renew, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * The terminal's Ctrl-C has already reached the worker, and a second signal would end it immediately, so a listening
 * worker is only disconnected. A disconnected worker that does not listen yet would wait forever for permission to
 * listen. It gets the signal instead, and ends when it has started.
 */
function end(worker: Worker, listens: boolean): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve())
    if (listens) worker.disconnect()
    else worker.process.kill('SIGTERM')
  })
}
