import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { DatabaseTarget } from '../src/platform/db.ts'
import type { World } from './harness.ts'

/** The server's commands as an operator runs them: in a process of their own, beside the servers of a world. */
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

export type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** A database behind a socket has no URL of its own; the driver takes what a URL lacks from PGHOST and its like. */
function settingsOf(target: DatabaseTarget): Record<string, string> {
  if ('url' in target) return { DATABASE_URL: target.url }
  const { host, port, database: name, username } = target
  return { DATABASE_URL: `postgres:///${name}`, PGHOST: host, PGPORT: String(port), PGUSER: username }
}

export function runCommand(world: Pick<World, 'storage'>, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const all = { ...process.env, ...settingsOf(world.storage.operator), SECRET_KEY: world.storage.secretKey, ...env }
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env: all }, (error, stdout, stderr) => resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }))
  })
}
