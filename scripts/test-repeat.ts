import { allFiles } from './lanes.ts'
import { sumOf, without, type Counts } from './test-counts.ts'
import { rememberFlaky } from './test-flaky.ts'
import type { Ended, Part } from './test-parts.ts'

/** These files depend on nothing but their seeds, so they fail every time or never. */
const DETERMINISTIC = /^packages\/(?:[^/]+\/src|server\/sim)\//
/** If more files fail, something is broken, and a second attempt would only take time. */
const REPEATED_FILES_MAX = 4

export type Total = { readonly code: number; readonly counts: Counts }

/**
 * Runs the files that failed once more (docs/adr/0310). Each one that passes then is printed as `FLAKY`, and its name goes
 * to `flaky.log`, which the night reads.
 */
export async function repeated(first: readonly Ended[], runNext: (part: Part) => Promise<Ended>): Promise<Total> {
  const files = first.flatMap(({ result }) => Object.keys(result.failedFiles))
  const counts = sumOf(first.map(({ result }) => result))
  const code = first.find((ended) => ended.code !== 0)?.code ?? 0
  if (counts.failed === 0 || !mayRepeat(first, files)) return { code, counts }
  console.log(`\nThese files failed and run once more:\n${files.map((file) => `  ${file}\n`).join('')}`)
  const second = await runNext({ name: 'repeated', files, isHeavy: true })
  for (const file of files.filter((name) => second.result.failedFiles[name] === undefined)) {
    console.log(`FLAKY   ${file} failed, and passed when it ran once more. Its first failure is above.`)
    rememberFlaky(file)
  }
  const failed = first.flatMap(({ result }) => Object.values(result.failedFiles))
  return { code: second.code, counts: sumOf([without(counts, failed), second.result]) }
}

/** Whether files of tests are all that failed, and a second attempt can show something new. */
function mayRepeat(first: readonly Ended[], files: readonly string[]): boolean {
  return (
    first.every((ended) => explains(ended)) &&
    files.length <= REPEATED_FILES_MAX &&
    files.every((file) => allFiles.includes(file) && !DETERMINISTIC.test(file))
  )
}

/** Whether the failed tests of files are the only fault of a part. */
function explains({ code, result }: Ended): boolean {
  return code === 0 || sumOf(Object.values(result.failedFiles)).failed === Math.max(1, result.failed)
}
