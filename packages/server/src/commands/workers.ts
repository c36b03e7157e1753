import cluster, { type Worker } from 'node:cluster'
import type { Config } from '../config.ts'
import type { Log } from '../platform/log.ts'

export type Workers = { readonly port: number; stop(): Promise<void> }

const RESTART_MS = 1_000

/**
 * Starts `count` processes that share the port, and resolves when all of them listen. One that dies, or is asked to end,
 * is replaced after a second: SIGTERM for one after the other is a restart that no client notices. Only the first looks
 * after the tables; the others need not do it again.
 */
export async function runWorkers(options: { count: number; roles: Config['ROLES']; log: Log }): Promise<Workers> {
  const { count, roles, log } = options
  // Each takes connections from the port itself. Handed out by this process, those on their way to one that dies would hang.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const living = new Set<Worker>()
  let stopping = false

  const fork = (index: number): Worker => {
    const own = index === 0 ? roles : roles.filter((role) => role !== 'work')
    const worker = cluster.fork({ ROLES: own.join(',') })
    living.add(worker)
    worker.on('exit', (code, signal) => {
      living.delete(worker)
      if (stopping) return
      const ended = { pid: worker.process.pid, code, signal }
      if (code === 0) log.info('worker.ended', ended)
      else log.error('worker.died', ended)
      setTimeout(() => {
        if (!stopping) fork(index)
      }, RESTART_MS)
    })
    return worker
  }

  const stop = async (): Promise<void> => {
    stopping = true
    await Promise.all([...living].map((worker) => end(worker)))
  }

  try {
    const ports = await Promise.all(Array.from({ length: count }, (_none, index) => listening(fork(index))))
    return { port: ports[0] ?? 0, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function listening(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.once('listening', (address) => resolve(address.port))
    worker.once('exit', () => reject(new Error('A process of the server ended before it listened; its own line above says why.')))
  })
}

/** A terminal's Ctrl-C has reached the worker already; a second signal would end it at once. */
function end(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve())
    worker.disconnect()
  })
}
