import { readFileSync } from 'node:fs'
import { styleText } from 'node:util'
import { Command, type HelpConfiguration } from 'commander'
import { addAgent } from './commands/agent.ts'
import { addAudit } from './commands/audit.ts'
import { addCompletion } from './commands/completion.ts'
import { addConfig } from './commands/config.ts'
import { addDatasets } from './commands/datasets.ts'
import { addDeliveries } from './commands/deliveries.ts'
import { addDestinations } from './commands/destinations.ts'
import { addEndpoints } from './commands/endpoints.ts'
import { addEvents } from './commands/events.ts'
import { addExport } from './commands/export.ts'
import { addListen } from './commands/listen.ts'
import { addLogin } from './commands/login.ts'
import { addMcp } from './commands/mcp.ts'
import { addProjects } from './commands/projects.ts'
import { addReplays } from './commands/replays.ts'
import { addSend } from './commands/send.ts'
import { addSink } from './commands/sink.ts'
import { addSourcePresets } from './commands/source-presets.ts'
import { addServer, addWorkspaces } from './commands/server.ts'
import { addTail } from './commands/tail.ts'
import { addTrigger } from './commands/trigger.ts'
import { addVerify } from './commands/verify.ts'
import { io } from './io.ts'
import { invokedAs } from './options.ts'
import { addRooms } from './rooms/add.ts'
import { hasColors } from './text/style.ts'

const outro = (): string => `
Environment:
  POSTROAD_URL   address of the server; default: http://127.0.0.1:4680
                 (alias: SERVICE_URL)
  SERVICE_TOKEN  an API key (hk_…); without it the profile of login, and on
                 the machine of the server a local key
                 (alias: POSTROAD_TOKEN)
  POSTROAD_PROFILE, POSTROAD_CONFIG_DIR
                 the profile to use, and the folder of profiles and positions
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                 the proxy for requests, and the hosts to reach without it
  NO_COLOR       no colors

Exit codes:
  0 ok, 1 failed, 2 usage, 3 refused, 4 not found, 5 rate limited,
  6 config plan --exit-code found changes

Start with:
  ${invokedAs()} start
  ${invokedAs()} listen 3000   (in another terminal)
  ${invokedAs()} send          (in a third one)`

/** Commander's help in a plainer layout. Commander removes the styles where the output is not a terminal or has no color. */
const HELP: HelpConfiguration = {
  // Beside a long flag, a narrower description would not wrap.
  minWidthToWrap: 24,
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
  // `help` works too, but every command has --help, so the list leaves it out.
  visibleCommands: (command) => command.commands.filter((one) => one.name() !== 'help'),
}

type Options = { readonly json?: boolean; readonly args?: readonly string[] }

/** These show the commands of all rooms. */
const ASK_ALL = new Set(['help', 'completion'])

/**
 * The whole command line, or the part that these arguments need: most of its 300 commands belong to other rooms. It prints its
 * usage errors and its help, and then throws them as CommanderError. With `json` it does not print usage errors, because the
 * caller prints them as an object.
 */
export function createProgram({ json = false, args: [first = 'help'] = [] }: Options = {}): Command {
  const program = new Command(invokedAs())
    .description('Postroad: capture webhooks, route them by rules, and deliver them with signatures and retries.')
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
    .showHelpAfterError('Add --help for usage.')
    .exitOverride()
  program.commandsGroup('Run the server:')
  addServer(program)
  addWorkspaces(program)
  program.commandsGroup('Work with events:')
  addListen(program)
  addTail(program)
  addSend(program)
  addTrigger(program)
  addVerify(program)
  addMcp(program)
  addEvents(program)
  addDatasets(program)
  addDeliveries(program)
  addReplays(program)
  program.commandsGroup('Set up sources and destinations:')
  addEndpoints(program)
  addSourcePresets(program)
  addDestinations(program)
  addSink(program)
  program.commandsGroup('Manage the workspace:')
  addProjects(program)
  addConfig(program)
  addAudit(program)
  addExport(program)
  program.commandsGroup('Sign in and set up the shell:')
  addLogin(program)
  addAgent(program)
  addCompletion(program)
  addRooms(program, first.startsWith('-') || ASK_ALL.has(first) ? undefined : first)
  return program.addHelpText('after', outro())
}

function version(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  const { version: found }: { version?: unknown } = JSON.parse(text)
  return String(found)
}
