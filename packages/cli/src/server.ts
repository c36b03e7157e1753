import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Failure } from './failure.ts'

/** Found by its place: the command line speaks HTTP with the server and imports none of it. */
const SERVER = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))

/**
 * This process becomes the server's command: same id, same terminal, its exit code. With no process in between there is
 * nobody to pass a signal on twice, and nothing can be left behind.
 */
export function become(command: 'serve' | 'bootstrap' | 'doctor' | 'rotate-key' | 'workspaces' | 'suspend' | 'reinstate', flags: readonly string[] = []): never {
  if (process.execve === undefined) throw new Failure('The server runs on Linux and macOS. On Windows, run it in WSL.')
  return process.execve(process.execPath, [process.execPath, SERVER, command, ...flags], { ...process.env })
}

/** What the server's own `bootstrap --json` answers: an admin key of the database that this environment names. */
export async function localApiKey(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [SERVER, 'bootstrap', '--json'])
    const made: unknown = JSON.parse(stdout)
    if (typeof made === 'object' && made !== null && 'api_key' in made && typeof made.api_key === 'string') return made.api_key
    throw new Error('bootstrap gave no API key')
  } catch (error) {
    throw new Failure(`There is no SERVICE_TOKEN, and the local API key could not be read: ${lastWords(error)}`)
  }
}

function lastWords(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n').at(-1) : undefined
  return said?.replace(/^postroad: /, '') ?? String(error)
}
