import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const FILES_IN_A_BATCH = 8
/** A file with a browser takes a minute, and the last batch to end decides how long a run takes. */
const BROWSER_FILES_IN_A_BATCH = 3

/**
 * Writes entry files into `folder`. Each loads some test files of one folder. Each test file is a suite with its path as its
 * name. A process then loads and compiles the server once for all of them, which takes almost half of the processor
 * time of a file.
 */
export function batched(files: readonly string[], folder: string): readonly string[] {
  const byFolder = [...Map.groupBy(files, (file) => file.slice(0, file.lastIndexOf('/'))).values()]
  return byFolder.flatMap(inEqualParts).map((of, at) => {
    const entry = join(folder, `${at}.mjs`)
    writeFileSync(entry, textOf(of))
    return entry
  })
}

function inEqualParts(files: readonly string[]): readonly (readonly string[])[] {
  const atMost = files.some((file) => file.startsWith('packages/console/'))
    ? BROWSER_FILES_IN_A_BATCH
    : FILES_IN_A_BATCH
  const parts = Math.ceil(files.length / atMost)
  return Array.from({ length: parts }, (_, at) => files.filter((_file, index) => index % parts === at))
}

/** `require` evaluates a file within its suite. An `import()` would evaluate it later, and register its tests elsewhere. */
function textOf(files: readonly string[]): string {
  const suites = files.map(
    (file) => `describe(${JSON.stringify(file)}, () => void require(${JSON.stringify(resolve(file))}))\n`,
  )
  return `import { describe } from 'node:test'\nimport { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n${suites.join('')}`
}
