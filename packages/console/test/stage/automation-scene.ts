import assert from 'node:assert/strict'
import { decodeId, encodeId } from '@postroad/contract'
import { sql } from '../../../server/src/platform/db.ts'
import { behind } from '../../../server/test/stage/fixtures.ts'
import type { World } from '../../../server/test/stage/harness.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** One of each thing that automates, reads or serves, for the tests of accessibility and the pictures. */
export type AutomationScene = {
  readonly workflowId: string
  /** A run whose step waits for an event. */
  readonly runId: string
  readonly httpSourceId: string
  readonly cronId: string
  readonly socketId: string
  readonly providerId: string
  readonly agentId: string
  readonly triggerId: string
  readonly datasetId: string
  readonly dataKeyId: string
  readonly forwarderId: string
  readonly alertId: string
}

type From = {
  readonly world: World
  readonly recordId: string
  readonly destinationId: string
  readonly dataset: string
}

/** Makes the scene through the API, without a new event. */
export async function automationScene({ world, recordId, destinationId, dataset }: From): Promise<AutomationScene> {
  const ask = async (line: string, body?: unknown) => {
    const [method = '', path = ''] = line.split(' ')
    const answer = await world.admin(method, path, body)
    assert.ok(answer.status < 300, `${line}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const { ai_provider } = await ask('POST ai-providers', {
    name: 'Local models',
    kind: 'openai_compatible',
    base_url: 'http://127.0.0.1:9/v1',
    default_model: 'llama3.2',
  })
  const { ai_agent } = await ask('POST ai-agents', {
    name: 'Triage',
    provider_id: ai_provider.id,
    instructions: 'Say how urgent the ticket is, and give the reason in one sentence.',
    tools: ['list_datasets', 'search_records'],
    output_schema: {
      type: 'object',
      properties: { urgency: { enum: ['low', 'high'] }, reason: { type: 'string' } },
      required: ['urgency'],
    },
    input_price: 3,
    output_price: 15,
    monthly_tokens: 2_000_000,
  })
  const { trigger } = await ask('POST triggers', {
    name: 'Ticket triage',
    dataset: 'tickets',
    conditions: [{ path: 'open', equals: true }],
    agent_id: ai_agent.id,
    output_dataset: 'triaged',
  })
  const { workflow } = await ask('POST workflows', {
    name: 'Order follow-up',
    entry_dataset: dataset,
    entry_conditions: [{ path: 'note', op: 'exists' }],
    steps: [
      {
        id: 'route',
        type: 'branch',
        branches: [
          {
            name: 'large',
            conditions: [{ path: 'total', op: 'gte', value: 1_000 }],
            steps: [{ id: 'notify', type: 'deliver', destination: destinationId }],
          },
        ],
        else: [
          {
            id: 'file',
            name: 'File the small ones',
            type: 'emit_event',
            dataset: 'small_orders',
            data: { of: '{{ record.id }}', total: '{{ payload.total | default: 0 }}' },
          },
        ],
      },
      { id: 'classify', type: 'run_agent', agent: ai_agent.id, on_error: 'continue', retry: { max_attempts: 1 } },
      {
        id: 'paid',
        type: 'wait_for_event',
        dataset: 'payments',
        conditions: [{ path: 'order_id', equals: '{{ record.id }}' }],
        timeout_seconds: 604_800,
      },
      { id: 'pause', type: 'delay', seconds: 3_600 },
    ],
  })
  const { instance } = await ask(`POST workflows/${workflow.id}/run`, { record_id: recordId })
  await ask('POST workflows', {
    name: 'Remind the customer',
    entry_dataset: dataset,
    active: false,
    steps: [{ id: 'pause', type: 'delay', seconds: 86_400 }],
  })
  const { source } = await ask('POST sources', {
    name: 'Orders of the shop',
    dataset: 'shop_orders',
    settings: { kind: 'http_poll', url: 'http://127.0.0.1:9/orders', items_path: 'data', key_path: 'id' },
  })
  const { cron_trigger } = await ask('POST cron-triggers', {
    name: 'Each morning',
    expression: '0 9 * * 1-5',
    time_zone: 'Europe/Berlin',
    dataset: 'mornings',
    data: { report: 'sales' },
  })
  const { ws_trigger } = await ask('POST ws-triggers', {
    name: 'Prices',
    url: 'ws://127.0.0.1:9/prices',
    dataset: 'prices',
    conditions: [{ path: 'symbol', equals: 'EUR' }],
  })
  const expires = new Date(world.clock.now() + 10 * DAY_MS + HOUR_MS)
  const { data_key } = await ask('POST data-keys', { name: 'Warehouse', datasets: [dataset], expires_at: expires })
  const alertId = await anAlert(world, { keyId: data_key.id, expires })
  const { forwarder } = await ask('POST forwarders', {
    name: 'Collector',
    endpoint: 'http://127.0.0.1:9',
    sample_rate: 0.25,
  })
  const { datasets } = await ask('GET datasets?limit=200')
  const { id: datasetId } = datasets.find(({ name }: { name: string }) => name === dataset)
  return {
    workflowId: workflow.id,
    runId: instance.id,
    httpSourceId: source.id,
    cronId: cron_trigger.id,
    socketId: ws_trigger.id,
    providerId: ai_provider.id,
    agentId: ai_agent.id,
    triggerId: trigger.id,
    datasetId,
    dataKeyId: data_key.id,
    forwarderId: forwarder.id,
    alertId,
  }
}

/** The alert that the loop would open about the key, without its event. */
async function anAlert(world: World, { keyId, expires }: { keyId: string; expires: Date }): Promise<string> {
  const database = behind(world)
  const id = world.app.deps.uuid()
  const at = new Date(world.clock.now())
  await database.run(sql`
    insert into alerts (workspace_id, project_id, id, type, subject_kind, subject_id, subject_name, severity, value, peak, detail, opened_at,
                        updated_at, silent)
    select workspace_id, project_id, ${id}, 'key.expiring', 'data_key', id, name, 'warning', 10, 10,
           ${JSON.stringify({ expires_at: expires.toISOString() })}::json, ${at}, ${at}, true
      from data_keys
     where id = ${decodeId('dataKey', keyId) ?? ''}
  `)
  await database.close()
  return encodeId('alert', id)
}
