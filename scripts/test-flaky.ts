import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { commit } from './test-touched.ts'

/** One line for each file that failed and then passed: the day, the commit, the file. Delete the lines of a race that is fixed. */
const FILE = 'flaky.log'

export function rememberFlaky(file: string): void {
  appendFileSync(FILE, `${new Date().toISOString().slice(0, 10)} ${commit().slice(0, 12)} ${file}\n`)
}

/** The files that are in the log twice or more. */
export function flakyTwice(): readonly string[] {
  if (!existsSync(FILE)) return []
  const files = readFileSync(FILE, 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[2] ?? '')
  return [...new Set(files.filter((file, index) => file !== '' && files.indexOf(file) !== index))]
}
