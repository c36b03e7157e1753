import { bootstrapCommand, localKeyCommand, signInLinkCommand } from './commands/bootstrap.ts'
import { doctorCommand } from './commands/doctor.ts'
import { rotateKeyCommand } from './commands/rotate-key.ts'
import { serveCommand } from './commands/serve.ts'
import { clearNetworkCommand, reinstateCommand, suspendCommand, workspacesCommand } from './commands/workspaces.ts'
import { startFailure } from './boot.ts'

/**
 * The server's own commands. The command-line client calls them. Only this file knows the arguments, the environment and the
 * exit code of the process.
 */
const COMMANDS = {
  serve: serveCommand,
  bootstrap: bootstrapCommand,
  'sign-in-link': signInLinkCommand,
  'local-key': localKeyCommand,
  doctor: doctorCommand,
  'rotate-key': rotateKeyCommand,
  workspaces: workspacesCommand,
  suspend: suspendCommand,
  reinstate: reinstateCommand,
  'clear-network': clearNetworkCommand,
} as const

const [name = 'serve'] = process.argv.slice(2)
const command = Object.entries(COMMANDS).find(([known]) => known === name)?.[1]

if (command === undefined) {
  console.error(`postroad: There is no server command "${name}". The commands are ${Object.keys(COMMANDS).join(', ')}.`)
  process.exitCode = 2
} else {
  try {
    process.exitCode = await command(process.env, process.argv.slice(3))
  } catch (error) {
    console.error(startFailure(error))
    process.exitCode = 1
  }
}
