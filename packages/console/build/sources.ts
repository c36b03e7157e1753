import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const PACKAGES = resolve(import.meta.dirname, '../..')
const READ = [
  'console/{src,build}/**/*',
  'console/{index.html,portal.html,package.json,vite.config.ts,vite.portal.config.ts}',
  'contract/src/**/*.ts',
  'sdk/src/**/*.ts',
  '../package-lock.json',
]

/** One hash of all sources of a build: the same hash means the same build. */
export function hashOfSources(): string {
  const hash = createHash('sha256')
  const files = READ.flatMap((pattern) => globSync(pattern, { cwd: PACKAGES, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
  for (const file of files.toSorted())
    hash.update(file.slice(PACKAGES.length)).update('\0').update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}
