import { writeFileSync } from 'node:fs'
import type { TestEvent } from 'node:test/reporters'
import { lineOf, sumOf, type Counts, type Result } from './test-counts.ts'

type Verdict = {
  readonly file: string
  readonly name: string
  readonly kind: keyof Counts
  readonly seconds: number
  readonly text: string
}

const SLOWEST = 10

/**
 * The full report of each failure and a line for each file as they occur; at the end a summary, and a closing line that
 * machines read.
 */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const verdicts: Verdict[] = []
  const secondsOf = new Map<string, number>()
  const suiteIn = new Map<string, string>()
  for await (const event of source) {
    if (event.type === 'test:stdout' || event.type === 'test:stderr') yield event.data.message
    if (event.type === 'test:start' && isSuiteOfFile(event.data))
      suiteIn.set(entryOf(event.data) ?? '', event.data.name)
    const verdict = verdictOf(event, suiteIn)
    if (verdict !== undefined) verdicts.push(verdict)
    if (verdict?.kind === 'failed') yield verdict.text
    const ended = endedFile(event)
    if (ended === undefined) continue
    secondsOf.set(ended.file, ended.seconds)
    const ofFile = verdicts.filter(({ file }) => file === ended.file)
    if (ofFile.length > 0) yield fileLine(ended.file, { ...countsOf(ofFile), seconds: ended.seconds })
  }
  yield* summary(verdicts, secondsOf)
  const total = countsOf(verdicts)
  writeResult({ ...total, failedFiles: failedFilesOf(verdicts) })
  yield `\n${lineOf(total)}\n`
}

function writeResult(result: Result): void {
  const file = process.env['POSTROAD_TEST_RESULT']
  if (file !== undefined) writeFileSync(file, JSON.stringify(result))
}

function failedFilesOf(verdicts: readonly Verdict[]): Readonly<Record<string, Counts>> {
  const files = [...Map.groupBy(verdicts, ({ file }) => file)].map(([file, of]) => [file, countsOf(of)] as const)
  return Object.fromEntries(files.filter(([, { failed }]) => failed > 0))
}

/** A line for each file that failed, the slowest files and tests of a large run, and one line for each reason to skip tests. */
function* summary(verdicts: readonly Verdict[], secondsOf: ReadonlyMap<string, number>): Generator<string> {
  const files = Map.groupBy(verdicts, ({ file }) => file)
  yield '\n'
  for (const [file, ofFile] of files)
    if (ofFile.some(({ kind }) => kind === 'failed'))
      yield fileLine(file, { ...countsOf(ofFile), seconds: secondsOf.get(file) })
  if (files.size > SLOWEST) {
    yield slowest(
      'files',
      [...secondsOf].map(([name, seconds]) => ({ name, seconds })),
    )
    yield slowest(
      'tests',
      verdicts.map(({ file, name, seconds }) => ({ name: `${file}  ${name}`, seconds })),
    )
  }
  const skipped = verdicts.filter(({ kind }) => kind === 'skipped')
  for (const [reason, of] of Map.groupBy(skipped, ({ text }) => text)) yield `\n${of.length} skipped: ${reason}\n`
}

function countsOf(verdicts: readonly Verdict[]): Counts {
  return sumOf(verdicts.map(({ kind }) => ({ passed: 0, failed: 0, skipped: 0, [kind]: 1 })))
}

function fileLine(
  file: string,
  { passed, failed, seconds }: Counts & { readonly seconds: number | undefined },
): string {
  const time = seconds === undefined ? '' : `  ${seconds.toFixed(1)} s`
  return `${failed > 0 ? 'FAILED' : 'ok    '}  ${file}  ${passed}${failed > 0 ? `, ${failed} failed` : ''}${time}\n`
}

type Timed = { readonly name: string; readonly seconds: number }

/** The durations on the clock of this machine, under the load of everything else that ran on it. */
function slowest(what: string, timed: readonly Timed[]): string {
  const first = timed.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST)
  const lines = first.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}\n`)
  return first.length === 0 ? '' : `\nThe slowest ${what}\n${lines.join('')}`
}

/** The verdict of one test; suites and files pass with their tests, and only their own failures count. */
function verdictOf(event: TestEvent, suiteIn: ReadonlyMap<string, string>): Verdict | undefined {
  if (event.type !== 'test:pass' && event.type !== 'test:fail') return undefined
  const { data } = event
  const { name, skip } = data
  const entry = entryOf(data) ?? name
  const file = suiteIn.get(entry) ?? shortPath(entry)
  const of = { file, name, seconds: data.details.duration_ms / 1_000 }
  const container = data.details.type === 'suite' || /\.(?:test\.ts|mjs)$/.test(name)
  if (event.type === 'test:fail') {
    const { error } = event.data.details
    const ofItsTests = container && /subtests? failed/.test(error.message)
    const text = `FAILED   ${of.file}\n         ${name}\n${indented(error)}\n`
    return ofItsTests ? undefined : { ...of, kind: 'failed', text }
  }
  if (container) return undefined
  if (skip === undefined) return { ...of, kind: 'passed', text: '' }
  return { ...of, kind: 'skipped', text: typeof skip === 'string' ? skip : name }
}

type Named = { readonly name: string; readonly nesting: number }

/** A process that runs several files has a suite for each (`test-batches.ts`). */
const isSuiteOfFile = ({ name, nesting }: Named): boolean => nesting === 0 && name.endsWith('.test.ts')

function endedFile(event: TestEvent): { readonly file: string; readonly seconds: number } | undefined {
  if (event.type === 'test:summary' && event.data.file?.endsWith('.test.ts') === true)
    return { file: shortPath(event.data.file), seconds: event.data.duration_ms / 1_000 }
  if ((event.type === 'test:pass' || event.type === 'test:fail') && isSuiteOfFile(event.data))
    return { file: event.data.name, seconds: event.data.details.duration_ms / 1_000 }
  return undefined
}

/** The file that was run, also for a test that a helper of the file declares. */
function entryOf(data: { readonly file?: string | undefined; readonly entryFile?: string }): string | undefined {
  return data.entryFile ?? data.file
}

function shortPath(file: string): string {
  return file.replace(`${process.cwd()}/`, '')
}

function indented(error: Error): string {
  const text = error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : error.message
  return text
    .split('\n')
    .map((line) => `         ${line}`)
    .join('\n')
}
