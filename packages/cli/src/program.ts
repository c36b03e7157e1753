import { readFileSync } from 'node:fs'
import { styleText } from 'node:util'
import { Command, type HelpConfiguration } from 'commander'
import { addApiKeys } from './commands/api-keys.ts'
import { addAudit } from './commands/audit.ts'
import { addDeliveries } from './commands/deliveries.ts'
import { addDestinations } from './commands/destinations.ts'
import { addEndpoints } from './commands/endpoints.ts'
import { addEvents } from './commands/events.ts'
import { addExport } from './commands/export.ts'
import { addProjects } from './commands/projects.ts'
import { addReplays } from './commands/replays.ts'
import { addRules } from './commands/rules.ts'
import { addSend } from './commands/send.ts'
import { addSink } from './commands/sink.ts'
import { addServer, addWorkspaces } from './commands/server.ts'
import { io } from './io.ts'
import { invokedAs } from './options.ts'
import { hasColors } from './text/style.ts'

const outro = (): string => `
Environment:
  POSTROAD_URL   address of the server; default: http://127.0.0.1:4680
                 (alias: SERVICE_URL)
  SERVICE_TOKEN  an API key (hk_…); commands on the machine of the server
                 create one for themselves
                 (alias: POSTROAD_TOKEN)
  NO_COLOR       no colors

Exit codes:
  0 ok, 1 failed, 2 usage, 3 refused, 4 not found, 5 rate limited

Start with:
  ${invokedAs()} start
  ${invokedAs()} send     (in another terminal)`

/** Commander's help, less crowded. It takes the styles away again where the output is no terminal or wants no colour. */
const HELP: HelpConfiguration = {
  styleTitle: (title) => styleText('bold', title, { validateStream: false }),
  subcommandTerm: (command) =>
    [
      command.name(),
      ...command.registeredArguments.map((argument) =>
        argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
      ),
    ].join(' '),
  optionDescription: ({ description, argChoices, defaultValue }) => {
    const choices = argChoices === undefined ? '' : `: ${argChoices.join(', ')}`
    return description + choices + (defaultValue === undefined ? '' : ` (without it, ${String(defaultValue)})`)
  },
  // `help` works, but every command has --help, so it need not be told.
  visibleCommands: (command) => command.commands.filter((one) => one.name() !== 'help'),
}

/**
 * The whole command line. Its usage errors and its help are thrown as CommanderError once they are printed; `json`: usage errors are not
 * printed, for whoever catches them says them as an object.
 */
export function createProgram({ json = false }: { readonly json?: boolean } = {}): Command {
  const program = new Command(invokedAs())
    .description('Postroad: capture webhooks, route them by rules, deliver them signed and retried.')
    .usage('<command> [options]')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain a command')
    .configureHelp(HELP)
    .configureOutput({
      writeOut: (text) => io().stdout.write(text),
      writeErr: (text) => io().stderr.write(text),
      getOutHelpWidth: () => io().stdout.columns ?? 80,
      getErrHelpWidth: () => io().stderr.columns ?? 80,
      getOutHasColors: hasColors,
      getErrHasColors: hasColors,
    })
    .configureOutput(
      json
        ? { writeErr: () => undefined }
        : { outputError: (text, write) => write(text.replace(/^error: /, 'postroad: ')) },
    )
    .showHelpAfterError('Add --help to see how it is used.')
    .exitOverride()
  program.commandsGroup('Run the server:')
  addServer(program)
  addWorkspaces(program)
  program.commandsGroup('Work with events:')
  addSend(program)
  addEvents(program)
  addDeliveries(program)
  addReplays(program)
  program.commandsGroup('Where events come from and go to:')
  addEndpoints(program)
  addRules(program)
  addDestinations(program)
  addSink(program)
  program.commandsGroup('Look after the workspace:')
  addProjects(program)
  addAudit(program)
  addExport(program)
  addApiKeys(program)
  return program.addHelpText('after', outro())
}

function version(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  const { version: found }: { version?: unknown } = JSON.parse(text)
  return String(found)
}
