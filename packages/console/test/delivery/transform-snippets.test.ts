import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Program } from '../../../server/src/platform/sandbox/sandbox.ts'
import { SNIPPETS } from '../../src/screens/delivery/transforms/snippets.ts'

for (const { name, language, code, sample, body } of SNIPPETS)
  test(`the snippet "${name}" makes its body of its sample`, () => {
    const program = Program.compile({ code, language })
    assert.ok(program instanceof Program, JSON.stringify(program))
    const event = { id: 'rec_1', dataset: 'orders', received_at: '2026-01-01T00:00:00.000Z', headers: {}, data: sample }
    const ran = program.run({ event: JSON.stringify(event), form: 'data', nowMs: 0, seed: 1 })
    assert.ok(ran.ok, JSON.stringify(ran))
    const result: unknown = JSON.parse(ran.result ?? 'null')
    const made = typeof result === 'object' && result !== null && 'body' in result ? result.body : null
    assert.deepEqual(made, body)
  })
