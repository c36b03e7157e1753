import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Log } from '../platform/log.ts'

/** A path and not an import, because the server imports nothing from the console. */
const BUILD = fileURLToPath(new URL('../../../console/build/main.ts', import.meta.url))

/**
 * Rebuilds the console beside the running server if the installed build no longer matches these sources. Until that is
 * done, the page reports it. A server whose folder has no console sources serves the existing build.
 */
export function buildConsole(log: Log, ended: Promise<void>): void {
  if (!existsSync(BUILD)) return
  const child = spawn(process.execPath, [BUILD], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.on('error', (cause) => log.warn('console.build_failed', { cause }))
  child.on('close', (code) => {
    if (code !== 0 && code !== null) log.warn('console.build_failed', { said: said.trim() })
  })
  void ended.then(() => child.kill())
}
