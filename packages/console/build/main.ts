import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compressFolder } from './compress.ts'
import { hashOfSources } from './sources.ts'

/**
 * Builds the console and the page of the portals into `dist`, unless `dist` has a build of these sources. A new build
 * is made beside it and renamed into place, so a server never reads half of one. With `--at-install`, a failed build
 * does not fail the installation, because the server tries again when it starts.
 */
const HERE = join(import.meta.dirname, '..')
const DIST = join(HERE, 'dist')
const MARK = 'sources.txt'
/** The console, and the page of the customer portals. */
const CONFIGS = ['vite.config.ts', 'vite.portal.config.ts'] as const

async function main(): Promise<void> {
  const hash = hashOfSources()
  if (existsSync(join(DIST, MARK)) && readFileSync(join(DIST, MARK), 'utf8') === hash) return
  // This import is here because a run that finds no change needs no build tool.
  const { build } = await import('vite')
  const made = mkdtempSync(join(HERE, '.dist-'))
  try {
    for (const config of CONFIGS)
      await build({
        configFile: join(HERE, config),
        logLevel: 'warn',
        build: { outDir: made, emptyOutDir: false },
      })
    await compressFolder(made)
    writeFileSync(join(made, MARK), hash)
    replace(made)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

/** Concurrent builds have the same result, so it does not matter which one finishes last. */
function replace(made: string): void {
  const previous = mkdtempSync(join(HERE, '.dist-'))
  if (existsSync(DIST)) renameSync(DIST, join(previous, 'dist'))
  try {
    renameSync(made, DIST)
  } catch (error) {
    if (!existsSync(join(DIST, MARK))) throw error
  } finally {
    rmSync(previous, { recursive: true, force: true })
  }
}

try {
  await main()
} catch (error) {
  const isBare = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
  const reason = error instanceof Error ? error.message : String(error)
  console.error(
    isBare
      ? `The console could not be built, because the packages of its build are not installed: run npm ci without --omit=dev. (${reason})`
      : `The console could not be built: ${reason}`,
  )
  process.exitCode = process.argv.includes('--at-install') ? 0 : 1
}
