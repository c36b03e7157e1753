import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Failure } from './failure.ts'
import { io } from './io.ts'

/**
 * The program that runs the server from its bundle: the bundle itself in a release, which has no sources. It is named by its path,
 * because the command line imports nothing of it and calls it over HTTP.
 */
const SOURCES = fileURLToPath(new URL('../../server/build/start.ts', import.meta.url))
const BUNDLE = fileURLToPath(new URL('../../server/dist/release/main.js', import.meta.url))
const SERVER = existsSync(SOURCES) ? SOURCES : BUNDLE

/**
 * This process becomes the command of the server: the same process id, terminal and exit code. Without a process in between, no
 * signal is forwarded twice and no process is left behind.
 */
export function become(
  command:
    | 'serve'
    | 'migrate'
    | 'bootstrap'
    | 'sign-in-link'
    | 'doctor'
    | 'rotate-key'
    | 'workspaces'
    | 'suspend'
    | 'reinstate'
    | 'clear-network',
  flags: readonly string[] = [],
): never {
  const { execve, env } = io()
  if (execve === undefined) throw new Failure('The server runs on Linux and macOS. On Windows, run it in WSL.')
  // The launcher of the server is TypeScript. With the folder of this process, its compiled form is stored too.
  const stored = getCompileCacheDir()
  const cache = stored === undefined ? {} : { NODE_COMPILE_CACHE: dirname(stored) }
  return execve.call(process, process.execPath, [process.execPath, SERVER, command, ...flags], { ...cache, ...env })
}

/** An admin key of the database in this environment, created for this command. It expires in an hour and is stored nowhere. */
export async function localApiKey(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [SERVER, 'local-key'], { env: io().env })
    const made: unknown = JSON.parse(stdout)
    if (typeof made === 'object' && made !== null && 'api_key' in made && typeof made.api_key === 'string')
      return made.api_key
    throw new Error('the server returned no API key')
  } catch (error) {
    throw new Failure(
      `SERVICE_TOKEN is not set, and Postroad could not create an API key on this machine: ${lastWords(error)}`,
    )
  }
}

function lastWords(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n').at(-1) : undefined
  return said?.replace(/^postroad: /, '') ?? String(error)
}
