import { enableCompileCache } from 'node:module'

// Node stores the compiled modules for the next start, which then takes half a second less. Static imports are
// loaded before this line, so everything else is imported after it.
enableCompileCache()

/**
 * The server's own commands. The command-line client calls them. Only this file knows the arguments, the environment and the
 * exit code of the process.
 */
const COMMANDS = {
  serve: async () => (await import('./commands/serve.ts')).serveCommand,
  migrate: async () => (await import('./commands/migrate.ts')).migrateCommand,
  bootstrap: async () => (await import('./commands/bootstrap.ts')).bootstrapCommand,
  'sign-in-link': async () => (await import('./commands/bootstrap.ts')).signInLinkCommand,
  'local-key': async () => (await import('./commands/bootstrap.ts')).localKeyCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
  'rotate-key': async () => (await import('./commands/rotate-key.ts')).rotateKeyCommand,
  workspaces: async () => (await import('./commands/workspaces.ts')).workspacesCommand,
  suspend: async () => (await import('./commands/workspaces.ts')).suspendCommand,
  reinstate: async () => (await import('./commands/workspaces.ts')).reinstateCommand,
  'clear-network': async () => (await import('./commands/workspaces.ts')).clearNetworkCommand,
} as const

const [name = 'serve'] = process.argv.slice(2)
const load = Object.entries(COMMANDS).find(([known]) => known === name)?.[1]

if (load === undefined) {
  console.error(`postroad: There is no server command "${name}". The commands are ${Object.keys(COMMANDS).join(', ')}.`)
  process.exitCode = 2
} else {
  try {
    const command = await load()
    process.exitCode = await command(process.env, process.argv.slice(3))
  } catch (error) {
    const { startFailure } = await import('./boot.ts')
    console.error(startFailure(error))
    process.exitCode = 1
  }
}
