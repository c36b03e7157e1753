import { bootstrapCommand, localKeyCommand, signInLinkCommand } from './commands/bootstrap.ts'
import { doctorCommand } from './commands/doctor.ts'
import { rotateKeyCommand } from './commands/rotate-key.ts'
import { serveCommand } from './commands/serve.ts'
import { reinstateCommand, suspendCommand, workspacesCommand } from './commands/workspaces.ts'
import { startFailure } from './boot.ts'

/** The server's own commands; the command-line client calls them. Knows the process: its arguments, environment and exit code. */
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
} as const

const [name = 'serve'] = process.argv.slice(2)
const command = Object.entries(COMMANDS).find(([known]) => known === name)?.[1]

if (command === undefined) {
  console.error(`postroad: there is no server command "${name}"; there are ${Object.keys(COMMANDS).join(', ')}.`)
  process.exitCode = 2
} else {
  try {
    process.exitCode = await command(process.env, process.argv.slice(3))
  } catch (error) {
    console.error(startFailure(error))
    process.exitCode = 1
  }
}
