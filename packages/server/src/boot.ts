import { ConfigError, readConfig, type Config } from './config.ts'
import type { App, AppOptions } from './app.ts'
import { openDatabase } from './platform/db.ts'
import { StartError } from './platform/embedded-postgres.ts'
import { createLog, type Log } from './platform/log.ts'
import { bindToPolicies } from './platform/row-security.ts'
import { startStep } from './platform/start-steps.ts'
import { checkDurability, checkReachable, openStorage, type Storage } from './storage.ts'

export type Booted = {
  readonly app: App
  readonly storage: Storage
  readonly config: Config
  readonly log: Log
  /** The migrations that ran at this start. */
  readonly migrated: readonly string[]
}

/** Starts everything below the surfaces: settings, storage, schema, the parts. The caller starts the app, or only uses it. */
export async function boot(
  environment: Readonly<Record<string, string | undefined>>,
  options: Pick<
    AppOptions,
    'commit' | 'rejections' | 'outbound' | 'links' | 'linkBudget' | 'heavy' | 'work' | 'resolver' | 'isBeside'
  > & {
    readonly mode: 'own' | 'join'
    readonly makes?: boolean
  },
): Promise<Booted> {
  const config = readConfig(environment)
  const log = createLog({
    level: config.LOG_LEVEL,
    format: config.LOG_FORMAT ?? (process.stderr.isTTY ? 'text' : 'json'),
  })
  let rest: ReturnType<typeof loadRest> | undefined
  const meanwhile = (): void => {
    rest = startStep('load', loadRest)
    // Awaited below, unless PostgreSQL fails first.
    rest.catch(() => undefined)
  }
  const opened = await startStep('postgres', () =>
    openStorage(config, { mode: options.mode, makes: options.makes, log, meanwhile }),
  )
  try {
    const { createApp, prepareSchema } = await (rest ?? startStep('load', loadRest))
    // This process has locked the folder, so any earlier sender is dead, and its lanes need not wait until their leases expire.
    const isHeir = options.mode === 'own' && config.DATABASE_URL === undefined
    await checkUsable(opened, log)
    const storage = {
      ...opened,
      target: await bindToPolicies(opened.target, (cause) => log.warn('postgres.role_not_made', { cause })),
    }
    const migrated = await startStep('schema', () =>
      prepareSchema(storage, { log, isHeir, makes: options.makes ?? true }),
    )
    const { mode: _mode, makes: _makes, ...plants } = options
    return { app: createApp({ config, storage, log, ...plants }), storage, config, log, migrated }
  } catch (error) {
    await opened.stop()
    throw error
  }
}

/** Most of the program. It loads while PostgreSQL, which is other processes, starts. */
async function loadRest() {
  const [{ createApp }, { prepareSchema }] = await Promise.all([import('./app.ts'), import('./schema.ts')])
  return { createApp, prepareSchema }
}

/** Checks that PostgreSQL is reachable and new enough. Logs an error if its settings can lose data. */
async function checkUsable({ target }: Storage, log: Log): Promise<void> {
  const database = openDatabase({
    target,
    connectionsMax: 1,
    applicationName: 'postroad boot',
    statementTimeoutMs: 60_000,
  })
  try {
    await checkReachable(database)
    await checkDurability(database, log)
  } finally {
    await database.close()
  }
}

/** The message when the start fails: one line for an expected error, everything for an unexpected one. */
export function startFailure(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StartError) return `postroad: ${error.message}`
  return `postroad: could not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
}
