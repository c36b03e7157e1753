import { boot, type Booted } from '../boot.ts'

type Beside<T> = {
  /** Whether the command may create the database and its schema. Otherwise it refuses a database of an older release. */
  readonly makes: boolean
  readonly logLevel?: 'warn' | 'silent'
  readonly work: (booted: Booted) => Promise<T>
}

/** Runs a command beside a running server. Without the role `deliver`, it notifies the senders but is not a sender itself. */
export async function besideTheServer<T>(
  environment: Readonly<Record<string, string | undefined>>,
  { makes, logLevel = 'warn', work }: Beside<T>,
): Promise<T> {
  const booted = await boot({ LOG_LEVEL: logLevel, ...environment, ROLES: 'web' }, { mode: 'join', makes })
  try {
    return await work(booted)
  } finally {
    await booted.app.stop()
    await booted.storage.stop()
  }
}
