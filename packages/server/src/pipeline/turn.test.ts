import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Captured, Origin, Receiver } from './types.ts'
import { turnOf } from './turn.ts'

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the part that is read
const receiver = { plan: { workspaceId: 'w' }, ingestKeyId: null, webhook: { id: 'e' } } as unknown as Receiver

const turn = (captured: Pick<Captured, 'address' | 'again'>) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  turnOf({ captured: captured as Captured, receiver })

const url = { kind: 'url', workspace: 'w', project: 'p', slug: 's', dataset: undefined } as const

const madeBy = (kind: Origin['kind']) =>
  turn({ address: { kind: 'origin', workspaceId: 'w', projectId: 'p', dataset: 'd', origin: { kind, id: 'i' } } })

test('a sender waits in the turn of its workspace, only for a while, and its URL pays', () => {
  assert.deepEqual(turn({ address: url }), { workspaceId: 'w', isPatient: false, payer: 'e' })
})

test('a source, a trigger and an agent wait in the turn of their workspace as long as they must', () => {
  for (const kind of ['source', 'cron_trigger', 'ws_trigger', 'ai_run'] as const)
    assert.deepEqual(madeBy(kind), { workspaceId: 'w', isPatient: true })
})

test('the loops that store events of many workspaces together have a separate turn', () => {
  assert.deepEqual(madeBy('workflow'), { workspaceId: 'installation', isPatient: true })
  const again = turn({ address: url, again: true })
  assert.deepEqual(again, { workspaceId: 'installation', isPatient: true })
})
