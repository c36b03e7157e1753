/** The ten questions of the search row, asked of a server, of its tables in SQL, and of a rival. */
import type { Db } from '../../src/platform/db.ts'
import type { Admin } from '../postroad.ts'
import type { OpenSearch } from '../rivals/opensearch.ts'
import { median, nowMs, quantile } from '../statistics.ts'
import { askPlain } from './queries.ts'
import type { Question } from './questions.ts'

/** Each question is asked about this many different events. */
const ASKED = 20
/** A question of a plain table reads all of it, so it is asked once. */
const ASKED_PLAIN = 1
/** After an answer that takes this long, a rival is not asked the same question again. */
const SLOW_MS = 10_000
const P95 = 0.95
const PAGE = 20

export type Asked = {
  readonly name: string
  readonly oursMs: number
  readonly plainMs: number | undefined
  readonly rivalMs: number | undefined
  /** The largest number among the answers to the question. */
  readonly scanned: number
  readonly read: number
  readonly calls: number
}

export type Asking = {
  readonly admin: Admin
  /** The tables for SQL; undefined: these are so many events that SQL would take minutes. */
  readonly db: Db | undefined
  readonly rival: OpenSearch | undefined
  /** The number of stored events. */
  readonly count: number
}

/** Asks one question everywhere. Throws when one of them finds another number of events. */
export async function askEverywhere(question: Question, { admin, db, rival, count }: Asking): Promise<Asked> {
  const numbers = Array.from({ length: ASKED }, (_none, index) => Math.floor(((index + 0.5) / ASKED) * count))
  const answers = await timedEach(numbers, (n) => answerOf(admin, question.ask(n)))
  const check = (name: string, asked: readonly number[], found: readonly number[]): void => {
    for (const [index, n] of asked.entries()) {
      const ours = answers.found[numbers.indexOf(n)]?.records
      if (found[index] !== ours) throw new Error(`${question.name}: Postroad found ${ours}, ${name} ${found[index]}.`)
    }
  }
  const few = numbers.filter((_n, index) => index % (ASKED / ASKED_PLAIN) === 0)
  const plain = db === undefined ? undefined : await timedEach(few, (n) => askPlain(db, question.sql(n)))
  if (plain !== undefined) check('SQL', few, plain.found)
  const others =
    rival === undefined ? undefined : await timedEach(numbers, (n) => rival.ask(question.filters(n), PAGE), SLOW_MS)
  if (others !== undefined) check('OpenSearch', numbers.slice(0, others.found.length), others.found)
  const most = (of: 'scanned' | 'read' | 'calls'): number => Math.max(...answers.found.map((answer) => answer[of]))
  return {
    name: question.name,
    oursMs: quantile(answers.tookMs, P95),
    plainMs: plain === undefined ? undefined : median(plain.tookMs),
    rivalMs: others === undefined ? undefined : quantile(others.tookMs, P95),
    scanned: most('scanned'),
    read: most('read'),
    calls: most('calls'),
  }
}

/** Asks about each number in turn. Stops after an answer that takes longer than `slowMs`. */
async function timedEach<Found>(
  numbers: readonly number[],
  ask: (n: number) => Promise<Found>,
  slowMs = Infinity,
): Promise<{ readonly tookMs: readonly number[]; readonly found: readonly Found[] }> {
  const tookMs: number[] = []
  const found: Found[] = []
  for (const n of numbers) {
    const began = nowMs()
    // oxlint-disable-next-line no-await-in-loop -- one at a time
    found.push(await ask(n))
    const took = nowMs() - began
    tookMs.push(took)
    if (took > slowMs) break
  }
  return { tookMs, found }
}

type Page = {
  readonly records: readonly unknown[]
  readonly scanned: number
  readonly read: number
  readonly next_cursor: string | null
}

/** Asks until a page is full or the end is reached, as a person does. */
async function answerOf(admin: Admin, query: readonly (readonly [string, string])[]) {
  let [records, scanned, read, calls] = [0, 0, 0, 0]
  let cursor: string | null = null
  do {
    const asked = new URLSearchParams([
      ...query.map(([name, value]): [string, string] => [name, value]),
      ['limit', String(PAGE - records)],
      ...(cursor === null ? [] : [['cursor', cursor] as [string, string]]),
    ])
    // oxlint-disable-next-line no-await-in-loop -- each page follows the previous one
    const page: Page = await admin<Page>('GET', `search/events?${asked.toString()}`)
    records += page.records.length
    scanned += page.scanned
    read += page.read
    calls += 1
    cursor = page.next_cursor
  } while (cursor !== null && records < PAGE)
  return { records, scanned, read, calls }
}
