import assert from 'node:assert/strict'
import { test } from 'node:test'
import { widthOf } from '../text/plain.ts'
import type { Forwarded } from './heard.ts'
import { eventLine } from './lines.ts'
import { screenLines, type Screen } from './screen-text.ts'

const anEvent = (n: number, status: number | undefined = 200): Forwarded => ({
  id: `rec_${String(n).padStart(26, '0')}`,
  submission: `sub_${n}`,
  receivedAt: '2026-01-15T12:00:00.004Z',
  dataset: 'orders',
  endpoint: 'sh\u001b[2Jop',
  origin: null,
  verification: 'verified',
  title: `order.${n}`,
  out: { query: '', headers: { 'content-type': 'application/json' }, body: Buffer.from(`{"n":${n},"t":"x"}`) },
  result: status === undefined ? undefined : { status, ms: 12, headers: {}, body: 'thanks' },
  sends: 1,
})

const aScreen = (of: Partial<Screen>): Screen => ({
  events: [],
  selected: 0,
  follows: true,
  open: false,
  scroll: 0,
  title: 'Forwarding to http://localhost:3000/',
  note: '',
  counts: { answered: 0, failed: 0, dropped: 0 },
  ...of,
})

test('the screen has as many lines as the terminal, and none is wider', () => {
  const events = Array.from({ length: 30 }, (_, n) => anEvent(n))
  for (const size of [
    { columns: 80, rows: 24 },
    { columns: 40, rows: 6 },
  ])
    for (const screen of [
      aScreen({}),
      aScreen({ events, selected: 29 }),
      aScreen({ events, selected: 3, open: true }),
    ]) {
      const lines = screenLines(screen, size)
      assert.equal(lines.length, size.rows)
      for (const line of lines) assert.ok(widthOf(line) <= size.columns, line)
    }
})

test('the selected event is always on the screen', () => {
  const events = Array.from({ length: 30 }, (_, n) => anEvent(n))
  for (let selected = 0; selected < 30; selected += 1) {
    const lines = screenLines(aScreen({ events, selected, follows: false }), { columns: 80, rows: 12 })
    assert.match(lines.find((line) => line.startsWith('›')) ?? '', new RegExp(`order\\.${selected} `))
  }
})

const detailsOf = (events: readonly Forwarded[]): string =>
  screenLines(aScreen({ events, open: true }), { columns: 80, rows: 40 }).join('\n')

test('the details name the part of the project that made an event', () => {
  const origin = { kind: 'cron_trigger', id: 'cron_1' } as const
  const made = { ...anEvent(1), endpoint: null, origin }
  assert.match(eventLine(made, 200), / order\.1 +cron trigger /)
  assert.match(detailsOf([made]), /\nMade by {3}cron trigger cron_1\n/)
  assert.match(detailsOf([{ ...made, origin: null }]), /\nEndpoint {2}none: it arrived with an ingest key\n/)
})

test('the details show the request and the answer, and no text of a sender controls the terminal', () => {
  const text = screenLines(aScreen({ events: [anEvent(7, 500)], open: true }), { columns: 80, rows: 40 }).join('\n')
  assert.match(text, /Answer {4}500 in 12 ms\n/)
  assert.match(text, /content-type: application\/json\n/)
  assert.match(text, /"n": 7,\n/)
  assert.match(text, /The answer\nthanks\n/)
  assert.ok(!text.includes('\u001b'))
})
