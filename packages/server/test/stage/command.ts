import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { DatabaseTarget } from '../../src/platform/db.ts'
import type { World } from './harness.ts'

/** The server's commands as an operator runs them: in a separate process, beside the servers of a world. */
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

export type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string }

/**
 * A database behind a socket has no URL; the driver reads the parts that a URL lacks from PGHOST and similar variables.
 */
export function settingsOf(target: DatabaseTarget): Record<string, string> {
  if ('url' in target) return { DATABASE_URL: target.url }
  const { host, port, database: name, username } = target
  return { DATABASE_URL: `postgres:///${name}`, PGHOST: host, PGPORT: String(port), PGUSER: username }
}

type Environment = Readonly<Record<string, string>>

function environmentOf({ storage }: Pick<World, 'storage'>, env: Environment): NodeJS.ProcessEnv {
  return { ...process.env, ...settingsOf(storage.operator), SECRET_KEY: storage.secretKey, ...env }
}

export function runCommand(
  world: Pick<World, 'storage'>,
  args: readonly string[],
  env: Environment = {},
): Promise<Ended> {
  const all = environmentOf(world, env)
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env: all }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    )
  })
}

export type Server = {
  readonly pid: number
  readonly endpoint: string
  /** Stops the server by SIGTERM; returns the exit code. */ stop(): Promise<number | null>
}

/** Runs `serve` in a separate process; resolves once it has printed where to send. */
export async function startServer(world: Pick<World, 'storage'>, env: Environment): Promise<Server> {
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: environmentOf(world, { PORT: '0', LOG_LEVEL: 'error', ...env }),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit').then(([code]: (number | null)[]) => code ?? null)
  let said = ''
  const endpoint = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const url = /Endpoint +(\S+)\n/.exec(said)?.[1]
      if (url !== undefined) resolve(url)
    })
    void ended.then((code) => reject(new Error(`It ended with ${code}.`)))
  })
  return {
    pid: child.pid ?? 0,
    endpoint,
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}
