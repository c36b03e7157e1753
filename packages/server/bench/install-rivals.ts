import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const RIVALS = new URL('rivals/', import.meta.url)

/** Installs the rivals as their lock file names them. They are a separate package, so that only those who run a bench install them. */
export function installRivals(): void {
  const installedAt = statSync(new URL('node_modules/.package-lock.json', RIVALS), { throwIfNoEntry: false })?.mtimeMs
  if (installedAt !== undefined && installedAt >= statSync(new URL('package-lock.json', RIVALS)).mtimeMs) return
  console.error('The bench installs its rivals.')
  execFileSync('npm', ['ci', '--ignore-scripts'], {
    cwd: fileURLToPath(RIVALS),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
