import type { Command } from 'commander'
import { withExample } from '../options.ts'
import { become } from '../server.ts'

type Flags = { readonly json?: true }

/** The commands that run on the machine of the server, with its environment. */
export function addServer(program: Command): void {
  const start = program
    .command('start')
    .summary('run the server until Ctrl-C (the default)')
    .description(
      'Runs the server until Ctrl-C. It prints the URL of the console, a URL to send\nevents to, and an example.\n' +
        'Its settings come from the environment: PORT, DATA_DIR, DATABASE_URL and others.\n' +
        'Without DATABASE_URL it starts an embedded PostgreSQL in DATA_DIR (./data).',
    )
    .action(() => become('serve'))
  withExample(start, 'start')

  const migrate = program
    .command('migrate')
    .summary('run the migrations of this release')
    .description(
      'Runs the migrations of this release that have not run, and ends. A server does this at\nits start; this is for a step before the servers of a new release start.',
    )
    .option('--json', 'print one JSON object')
    .action((options: Flags) => become('migrate', flagsOf(options)))
  withExample(migrate, 'migrate')

  const bootstrap = program
    .command('bootstrap')
    .summary('create the first workspace and a new API key')
    .description(
      'Creates the first workspace, project and endpoint if they are missing, and an admin\nAPI key that expires in 90 days. The key is shown only once, and the key of the\nprevious call is revoked. You can run it beside a running server.',
    )
    .option('--json', 'print one JSON object')
    .action((options: Flags) => become('bootstrap', flagsOf(options)))
  withExample(bootstrap, 'bootstrap --json')

  const signInLink = program
    .command('sign-in-link')
    .summary('print a link that signs the owner in once')
    .description(
      'Prints a link that signs the owner of the first workspace in once, within an hour.\nThe previously printed link stops working. You can run it beside a running server.',
    )
    .option('--json', 'print one JSON object')
    .action((options: Flags) => become('sign-in-link', flagsOf(options)))
  withExample(signInLink, 'sign-in-link')

  const doctor = program
    .command('doctor')
    .summary('check the invariants of the database')
    .description(
      'Checks the invariants of the database and changes nothing. You can run it beside a\nrunning server. The exit code is 1 when an invariant is broken.',
    )
    .option('--json', 'print one JSON object')
    .action((options: Flags) => become('doctor', flagsOf(options)))
  withExample(doctor, 'doctor')

  const rotateKey = program
    .command('rotate-key')
    .summary('encrypt every secret with a new key')
    .description(
      'Encrypts every secret of the database with the newest key, beside running servers.\nYou can interrupt it and run it again.\n' +
        'With the embedded database it creates the new key itself. Otherwise change SECRET_KEY\nand SECRET_KEY_PREVIOUS on every node first: see docs/operate/rotate-key.md.',
    )
    .option('--json', 'print one JSON object')
    .action((options: Flags) => become('rotate-key', flagsOf(options)))
  withExample(rotateKey, 'rotate-key')
}

/** The commands for the operator only, so they use the database in this environment instead of the API. */
export function addWorkspaces(program: Command): void {
  const workspaces = program
    .command('workspaces')
    .summary('list, suspend, reinstate and open workspaces')
    .description('For the operator, on the machine of the server. You can run it beside a running server.')

  const list = workspaces
    .command('list')
    .summary('list workspaces')
    .description('Lists the workspaces and shows which are suspended.')
    .option('--json', 'print one JSON object')
    .action((options: Flags) => become('workspaces', flagsOf(options)))
  withExample(list, 'workspaces list')

  const suspend = workspaces
    .command('suspend')
    .argument('<workspace>', 'slug of the workspace')
    .summary('accept and send nothing for a workspace')
    .description(
      'Refuses its events, pauses its deliveries and refuses changes, on every server within a second.\nNothing is lost: its data and its waiting deliveries stay.',
    )
    .requiredOption('--reason <text>', 'the reason; the audit log stores it')
    .option('--json', 'print one JSON object')
    .action((slug: string, { reason, ...options }: Flags & { readonly reason: string }) =>
      become('suspend', [`--reason=${reason}`, ...flagsOf(options), '--', slug]),
    )
  withExample(suspend, 'workspaces suspend main --reason "unpaid since May"')

  const reinstate = workspaces
    .command('reinstate')
    .argument('<workspace>', 'slug of the workspace')
    .summary('end the suspension of a workspace')
    .description('Accepts its events again and sends its paused deliveries.')
    .option('--json', 'print one JSON object')
    .action((slug: string, options: Flags) => become('reinstate', [...flagsOf(options), '--', slug]))
  withExample(reinstate, 'workspaces reinstate main')

  const clearNetwork = workspaces
    .command('clear-network')
    .argument('<workspace>', 'its slug')
    .summary('allow any address to access a workspace')
    .description(
      'Empties the list of addresses that may use a workspace, for one that has locked itself out.\nIt takes effect on every server from the next request on.',
    )
    .option('--json', 'print one JSON object')
    .action((slug: string, options: Flags) => become('clear-network', [...flagsOf(options), '--', slug]))
  withExample(clearNetwork, 'workspaces clear-network main')
}

function flagsOf({ json }: Flags): readonly string[] {
  return json === true ? ['--json'] : []
}
