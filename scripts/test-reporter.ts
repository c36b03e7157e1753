import type { TestEvent } from 'node:test/reporters'

type Counts = { passed: number; failed: number; skipped: number }

/** One line for each file, the whole story of each failure, and a closing line that machines read. */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const total: Counts = { passed: 0, failed: 0, skipped: 0 }
  const files = new Map<string, Counts>()
  for await (const event of source) {
    if (event.type === 'test:stdout' || event.type === 'test:stderr') yield event.data.message
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { data } = event
    if (data.details.type === 'suite' || data.file === undefined) continue
    const isFile = data.name === data.file || data.name.endsWith('.test.ts')
    if (isFile && event.type === 'test:pass') continue
    const counts = files.get(data.file) ?? { passed: 0, failed: 0, skipped: 0 }
    files.set(data.file, counts)
    const kind = event.type === 'test:fail' ? 'failed' : data.skip === undefined ? 'passed' : 'skipped'
    counts[kind] += 1
    total[kind] += 1
    if (kind === 'skipped') yield `skipped  ${data.name}${typeof data.skip === 'string' ? `: ${data.skip}` : ''}\n`
    if (event.type === 'test:fail') yield `FAILED   ${data.file}\n         ${data.name}\n${indented(event.data.details.error)}\n`
  }
  for (const [file, counts] of files) {
    yield `${counts.failed > 0 ? 'FAILED' : 'ok    '}  ${file.replace(`${process.cwd()}/`, '')}  ${counts.passed}${counts.failed > 0 ? `, ${counts.failed} failed` : ''}\n`
  }
  yield `\n${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}\n`
}

function indented(error: Error & { cause?: unknown }): string {
  const cause = error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : String(error.cause ?? error.message)
  return cause.split('\n').map((line) => `         ${line}`).join('\n')
}
