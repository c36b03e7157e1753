import type { TestEvent } from 'node:test/reporters'

type Counts = { passed: number; failed: number; skipped: number }

/** One line for each file, the whole story of each failure, and a closing line that machines read. */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const total: Counts = { passed: 0, failed: 0, skipped: 0 }
  const files = new Map<string, Counts>()
  for await (const event of source) {
    if (event.type === 'test:stdout' || event.type === 'test:stderr') yield event.data.message
    const verdict = verdictOf(event)
    if (verdict === undefined) continue
    const counts = files.get(verdict.file) ?? { passed: 0, failed: 0, skipped: 0 }
    files.set(verdict.file, counts)
    counts[verdict.kind] += 1
    total[verdict.kind] += 1
    if (verdict.text !== '') yield verdict.text
  }
  for (const [file, counts] of files) {
    const failed = counts.failed > 0 ? `, ${counts.failed} failed` : ''
    yield `${counts.failed > 0 ? 'FAILED' : 'ok    '}  ${file}  ${counts.passed}${failed}\n`
  }
  yield `\n${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}\n`
}

type Verdict = { readonly file: string; readonly kind: keyof Counts; readonly text: string }

/** The verdict of one test; suites and files pass with their tests, and only their own failures count. */
function verdictOf(event: TestEvent): Verdict | undefined {
  if (event.type !== 'test:pass' && event.type !== 'test:fail') return undefined
  const { data } = event
  const file = (data.file ?? data.name).replace(`${process.cwd()}/`, '')
  const container = data.details.type === 'suite' || data.name.endsWith('.test.ts')
  if (event.type === 'test:fail') {
    const ofItsTests = container && /subtests? failed/.test(event.data.details.error.message)
    return ofItsTests ? undefined : { file, kind: 'failed', text: `FAILED   ${file}\n         ${data.name}\n${indented(event.data.details.error)}\n` }
  }
  if (container) return undefined
  if (data.skip === undefined) return { file, kind: 'passed', text: '' }
  return { file, kind: 'skipped', text: `skipped  ${data.name}${typeof data.skip === 'string' ? `: ${data.skip}` : ''}\n` }
}

function indented(error: Error): string {
  const text = error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : error.message
  return text.split('\n').map((line) => `         ${line}`).join('\n')
}
