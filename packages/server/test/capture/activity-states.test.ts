import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDestination, aWebhook, post } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let database: Database

// No loop runs here, because it would advance the deliveries that these tests write.
onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { ROLES: 'web' }, loops: [] },
)

describe('forward_status reports the progress of the deliveries of a submission', () => {
  const STATES: readonly (readonly [string, readonly string[]])[] = [
    ['delivered', ['delivered', 'cancelled']],
    ['cancelled', ['cancelled', 'cancelled']],
    ['pending', ['sending', 'delivered']],
    ['paused', ['paused', 'pending']],
    ['retrying', ['paused', 'retrying', 'delivered']],
    ['failed', ['failed', 'retrying', 'delivered']],
  ]
  for (const [status, states] of STATES) {
    test(`${states.join(', ')}: ${status}`, async () => {
      const { id, public_url } = await aWebhook(world, { dataset: `d_${status}` })
      const { body } = await post(public_url, '{}')
      const [recordId = '', at] = [decodeId('record', body.records[0].id), world.clock.now()]
      for (const state of states) {
        const { destination } = await aDestination(world, {
          url: 'http://127.0.0.1:9',
          datasets: ['none'],
          enabled: false,
        })
        const due = state === 'pending' || state === 'retrying' ? new Date(at + 1e9) : null
        await database.run(sql`
          insert into deliveries (workspace_id, project_id, id, record_id, destination_id, state, pause_reason, next_attempt_at, created_at, updated_at)
          select workspace_id, id, ${world.app.deps.uuid()}, ${recordId}, ${decodeId('destination', destination.id) ?? null}, ${state},
                 ${state === 'paused' ? 'destination_disabled' : null}, ${due}, now(), now()
            from projects where is_default
        `)
      }
      const { body: seen } = await world.admin('GET', `webhooks/${id}/activity`)
      assert.equal(seen.rows[0].forward_status, status)
    })
  }
})
