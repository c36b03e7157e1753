import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { freshBundle, makeBundle } from './fresh.ts'
import { SERVER } from './inputs.ts'

/**
 * Runs a command of the server from its bundle, which it makes first if the sources have changed. Where that is impossible, it
 * runs the sources.
 */
enableCompileCache()

// A process that takes over from this one starts here again, so that it runs what is installed by then.
// oxlint-disable-next-line node/no-process-env -- this file starts the program that knows the environment
process.env['POSTROAD_ENTRY'] = import.meta.filename

const fresh = freshBundle()
const program = fresh ?? (await made())
if (fresh === undefined && process.execve !== undefined && process.send === undefined) {
  // The build tool takes some hundred MiB of memory, which a process cannot give back. The channel to a parent would be lost.
  process.execve(process.execPath, [process.execPath, program, ...process.argv.slice(2)])
} else {
  // Processes that share the port run the same program, even if the sources change meanwhile.
  process.argv[1] = program
  await import(program)
}

async function made(): Promise<string> {
  try {
    return await makeBundle()
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).trim().split('\n')
    console.error(
      `postroad: The server could not be bundled (${reason}), so it runs from its sources: it starts more slowly and needs more memory.`,
    )
    return join(SERVER, 'src/main.ts')
  }
}
