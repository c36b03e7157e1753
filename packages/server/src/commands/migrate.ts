import { besideTheServer } from './beside-the-server.ts'

/**
 * `migrate [--json]`: runs the migrations of this release that have not run, and ends. A server does this at its start; the command is
 * for a step before the servers of a new release start. Returns the exit code.
 */
export async function migrateCommand(
  environment: Readonly<Record<string, string | undefined>>,
  flags: readonly string[],
): Promise<number> {
  const migrations = await besideTheServer(environment, {
    makes: true,
    work: ({ migrated }) => Promise.resolve(migrated),
  })
  const text =
    migrations.length === 0 ? 'The database is up to date.' : migrations.map((name) => `Ran ${name}`).join('\n')
  process.stdout.write(`${flags.includes('--json') ? JSON.stringify({ migrations }) : text}\n`)
  return 0
}
