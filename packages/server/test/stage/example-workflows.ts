import assert from 'node:assert/strict'
import { decodeId } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import { call, created, database, type Asked, type Place } from './admin-asking.ts'
import { anEventIn, withId } from './example-resources.ts'

/** The workflows that the examples of admin routes need. Nothing that arrives starts them. */

/** Steps that wait, so that an instance of them does not end. */
export const FOLLOW_UP = [
  { id: 'later', type: 'delay', seconds: 86_400 },
  { id: 'note', type: 'emit_event', dataset: 'notes', data: { of: '{{ payload.id }}' } },
]
export const DEFINITION = { entry_dataset: 'nothing_here', steps: FOLLOW_UP }

export const aWorkflowIn = async (at: Place): Promise<Asked> =>
  withId((await created(at, 'workflows', DEFINITION)).workflow.id)

export async function anInstanceIn(at: Place): Promise<Asked> {
  const { params } = await aWorkflowIn(at)
  const record_id = (await anEventIn(at)).records[0].id
  const { status, body } = await call(at, `POST workflows/${params?.['id']}/run`, { body: { record_id } })
  assert.equal(status, 201)
  // The instance is due years from now, so that it does not change between two requests.
  await database.run(sql`
    update workflow_instances
       set state = 'pending', fence = fence + 1, lease_until = null, due_at = '2100-01-01', wait_kind = null
     where id = ${decodeId('workflowInstance', body.instance.id) ?? ''}
  `)
  return withId(body.instance.id)
}

/** An instance as the engine leaves it when a step has failed. */
export async function aFailedInstanceIn(at: Place): Promise<Asked> {
  const asked = await anInstanceIn(at)
  await database.run(sql`
    update workflow_instances
       set state = 'failed', fence = fence + 1, lease_until = null, due_at = null, ended_at = now(),
           error = '{"step_id":"note","reason":"template_failed","message":"No value."}'
     where id = ${decodeId('workflowInstance', asked.params?.['id'] ?? '') ?? ''}
  `)
  return asked
}
