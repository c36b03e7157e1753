import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHeavy, type Heavy } from '../platform/heavy/heavy.ts'
import { createLog } from '../platform/log.ts'
import type { ProgramInput } from '../platform/sandbox/sandbox.ts'
import { checkProgram, createTransformer, runProgram } from './run-program.ts'

const log = createLog({ level: 'silent', format: 'text' })
const rooms: Heavy[] = []
test.afterEach(() => Promise.all(rooms.splice(0).map((room) => room.close())))

function aRoom(charge?: (payer: string, ms: number) => void): Heavy {
  const entry = new URL('thread.ts', import.meta.url)
  const room = createHeavy({ entry, threadsMax: 2, log, ...(charge === undefined ? {} : { charge }) })
  rooms.push(room)
  return room
}

const input = (data: unknown): ProgramInput => ({
  event: JSON.stringify({ id: 'evt_1', dataset: 'a', received_at: '2026-01-01T00:00:00.000Z', data }),
  form: 'data',
  nowMs: 0,
  seed: 1,
})
const source = (key: string, code: string) => ({
  key,
  code: `function transform(event) { ${code} }`,
  language: 'js' as const,
})

test('events of a program share messages to a thread, each gets its own outcome, and their workspace pays', async () => {
  const paid = new Map<string, number>()
  const room = aRoom((payer, ms) => paid.set(payer, (paid.get(payer) ?? 0) + ms))
  const transformer = createTransformer(room)
  const program = source('v1', 'if (event.data === 13) throw new Error("unlucky"); return { body: event.data * 2 }')
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, (_, data) => transformer.run(program, { workspaceId: 'w', input: input(data) })),
  )
  assert.deepEqual(
    outcomes.map((ran) => (ran.ok ? ran.result : ran.fault.message)),
    Array.from({ length: 50 }, (_, data) => (data === 13 ? 'Error: unlucky' : `{"body":${data * 2}}`)),
  )
  assert.deepEqual([...room.load().ran], [['transform.run', 2]])
  assert.deepEqual([[...paid.keys()], (paid.get('w') ?? 0) > 0], [['w'], true])
})

test('an event that counts no steps and never ends costs its thread, and no other event its outcome', async () => {
  const transformer = createTransformer(aRoom(), 5_000)
  const program = source(
    'v2',
    'if (event.data === 1) { let n = 3n ** 300000n; for (;;) n = (n * n) % (3n ** 300001n) } return { body: 1 }',
  )
  const outcomes = await Promise.all(
    [0, 1, 2].map((data) => transformer.run(program, { workspaceId: 'w', input: input(data) })),
  )
  assert.deepEqual(
    outcomes.map((ran) => (ran.ok ? 'ok' : ran.fault.kind)),
    ['ok', 'timed_out', 'ok'],
  )
})

test('a thread separates programs by their keys, and compiles code without a key each time', async () => {
  const room = aRoom()
  const once = { key: null, code: 'let n = 0; function transform() { return { body: ++n } }', language: 'js' as const }
  const asked = { workspaceId: 'w', work: Infinity }
  for (const sourceOf of [once, { ...once, key: 'a' }, { ...once, key: 'a' }, { ...once, key: 'b' }]) {
    // oxlint-disable-next-line no-await-in-loop -- one thread after another would hide a shared state
    const outcomes = await room.run(runProgram, { ...asked, input: { source: sourceOf, inputs: [input(1), input(2)] } })
    assert.deepEqual(
      outcomes.map((ran) => ran.ok && ran.result),
      ['{"body":1}', '{"body":1}'],
    )
  }
})

test('code is checked without an event', async () => {
  const room = aRoom()
  const check = (code: string) =>
    room.run(checkProgram, { workspaceId: 'w', work: Infinity, input: { code, language: 'ts' } })
  assert.equal(await check('export const transform = (event: unknown) => ({ body: event })'), null)
  assert.equal((await check('export const transform = (event: '))?.kind, 'compile')
})
