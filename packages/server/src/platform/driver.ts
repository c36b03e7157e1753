import { readFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import type postgresType from 'postgres'
import { PATCHED_FILES, patchedText } from './driver-patches.ts'

/** Only this file imports the database driver, with its patches. In the bundle, `build/bundle.ts` takes its place. */
const patched = new Set<string>()

const hooks = registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context)
    const source = patchedText(url, () => readFileSync(new URL(url), 'utf8'))
    if (source === undefined) return loaded
    patched.add(url)
    return { ...loaded, source }
  },
})

// `require`, not `await import`: a module graph with a top-level await is evaluated later than its importers expect.
const require = createRequire(import.meta.url)
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type that the package declares for `import`
const { default: driver } = require(fileURLToPath(import.meta.resolve('postgres'))) as {
  readonly default: typeof postgresType
}
export const postgres = driver

hooks.deregister()
if (patched.size < PATCHED_FILES)
  throw new Error('The database driver was loaded before platform/driver.ts could patch it.')
