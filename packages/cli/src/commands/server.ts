import type { Command } from 'commander'
import { withExample } from '../options.ts'
import { become } from '../server.ts'

type Flags = { readonly json?: true }

/** What runs on the machine of the server, with its environment. */
export function addServer(program: Command): void {
  const start = program
    .command('start')
    .summary('run the server until Ctrl-C')
    .description(
      'Runs the server until Ctrl-C, and prints where to look, where to send and how.\n' +
        'Its settings come from the environment: PORT, DATA_DIR, DATABASE_URL and others.\n' +
        'Without DATABASE_URL it starts an embedded PostgreSQL in DATA_DIR (./data).',
    )
    .action(() => become('serve'))
  withExample(start, 'start')

  const bootstrap = program
    .command('bootstrap')
    .summary('make the first workspace, and a new API key')
    .description(
      'Makes the first workspace, project and endpoint if they are missing, and an admin\nAPI key that expires in 90 days. The key is shown once, and the one of the previous\ncall is revoked. Works beside a running server.',
    )
    .option('--json', 'print one JSON object')
    .action((options: Flags) => become('bootstrap', flagsOf(options)))
  withExample(bootstrap, 'bootstrap --json')

  const signInLink = program
    .command('sign-in-link')
    .summary('print a link that signs the owner in once')
    .description(
      'Prints a link that signs the owner of the first workspace in once, within an hour.\nThe link that was printed before ends. Works beside a running server.',
    )
    .option('--json', 'print one JSON object')
    .action((options: Flags) => become('sign-in-link', flagsOf(options)))
  withExample(signInLink, 'sign-in-link')

  const doctor = program
    .command('doctor')
    .summary('check the invariants of the database')
    .description(
      'Checks the invariants of the database. It changes nothing, and works beside a running server.\nThe exit code is 1 when something is wrong.',
    )
    .option('--json', 'print one JSON object')
    .action((options: Flags) => become('doctor', flagsOf(options)))
  withExample(doctor, 'doctor')

  const rotateKey = program
    .command('rotate-key')
    .summary('seal every secret by a new key')
    .description(
      'Seals every secret of the database by the newest key, beside running servers.\nIt may be broken off and run again.\n' +
        'With the embedded database it makes the new key itself. Else change SECRET_KEY\nand SECRET_KEY_PREVIOUS on every node first: see docs/operate/rotate-key.md.',
    )
    .option('--json', 'print one JSON object')
    .action((options: Flags) => become('rotate-key', flagsOf(options)))
  withExample(rotateKey, 'rotate-key')
}

/** What only the operator may do, so it is asked of the database that this environment names. */
export function addWorkspaces(program: Command): void {
  const workspaces = program
    .command('workspaces')
    .summary('list, suspend and reinstate workspaces')
    .description('For the operator, on the machine of the server. Works beside a running server.')

  const list = workspaces
    .command('list')
    .summary('list workspaces')
    .description('Lists the workspaces and which are suspended.')
    .option('--json', 'print one JSON object')
    .action((options: Flags) => become('workspaces', flagsOf(options)))
  withExample(list, 'workspaces list')

  const suspend = workspaces
    .command('suspend')
    .argument('<workspace>', 'its slug')
    .summary('accept and send nothing for a workspace')
    .description(
      'Refuses its events, pauses its deliveries and refuses changes, on every server within a second.\nNothing is lost: its data stays, and so does what waits to be sent.',
    )
    .requiredOption('--reason <text>', 'the reason; the audit log stores it')
    .option('--json', 'print one JSON object')
    .action((slug: string, { reason, ...options }: Flags & { readonly reason: string }) =>
      become('suspend', [`--reason=${reason}`, ...flagsOf(options), '--', slug]),
    )
  withExample(suspend, 'workspaces suspend main --reason "unpaid since May"')

  const reinstate = workspaces
    .command('reinstate')
    .argument('<workspace>', 'its slug')
    .summary('let a suspended workspace go on')
    .description('Accepts its events again and sends what was paused.')
    .option('--json', 'print one JSON object')
    .action((slug: string, options: Flags) => become('reinstate', [...flagsOf(options), '--', slug]))
  withExample(reinstate, 'workspaces reinstate main')
}

function flagsOf({ json }: Flags): readonly string[] {
  return json === true ? ['--json'] : []
}
