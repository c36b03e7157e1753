import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from './clock.ts'
import { createRetryLog } from './retry-log.ts'

type Line = { readonly level: string; readonly event: string; readonly fields: Readonly<Record<string, unknown>> }

function aRetryLog() {
  const lines: Line[] = []
  const at =
    (level: string) =>
    (event: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      void lines.push({ level, event, fields })
  const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  const clock = testClock(0)
  return { lines, clock, retryLog: createRetryLog(log, clock) }
}

test('the first failure is logged immediately, and the failures of the next minute become one line with their count and the last cause', () => {
  const { lines, clock, retryLog } = aRetryLog()
  for (let failure = 1; failure <= 557; failure += 1) retryLog.warn('turn.failed', { cause: `failure ${failure}` })
  assert.deepEqual(lines, [{ level: 'warn', event: 'turn.failed', fields: { cause: 'failure 1' } }])
  clock.advance(60_000)
  assert.deepEqual(lines.slice(1), [
    {
      level: 'warn',
      event: 'turn.failed',
      fields: { times: 556, since: '1970-01-01T00:00:00.000Z', cause: 'failure 557' },
    },
  ])
})

test('after a minute without a failure the next one is reported immediately', () => {
  const { lines, clock, retryLog } = aRetryLog()
  retryLog.error('turn.failed', { cause: 'first' })
  clock.advance(60_000)
  retryLog.error('turn.failed', { cause: 'second' })
  assert.deepEqual(
    lines.map(({ level, fields }) => [level, fields['cause']]),
    [
      ['error', 'first'],
      ['error', 'second'],
    ],
  )
})

test('each event is counted separately', () => {
  const { lines, retryLog } = aRetryLog()
  retryLog.warn('turn.failed', { cause: 'a' })
  retryLog.warn('read.failed', { cause: 'b' })
  assert.deepEqual(
    lines.map(({ event }) => event),
    ['turn.failed', 'read.failed'],
  )
})

test('a process that stops writes what it has counted', () => {
  const { lines, clock, retryLog } = aRetryLog()
  for (let failure = 0; failure < 3; failure += 1) retryLog.warn('turn.failed', { cause: 'gone' })
  retryLog.close()
  assert.equal(lines.at(-1)?.fields['times'], 2)
  clock.advance(600_000)
  assert.equal(lines.length, 2)
})
