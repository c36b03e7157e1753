import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { before, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { monthOf } from '../../src/domain/workspace/month.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { uuidv7Floor } from '../../src/platform/ids.ts'
import { AlertStage } from '../stage/alert-stage.ts'
import { aDestination, aName, aWebhook, post } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { DATABASE } from '../stage/source-settings.ts'
import { anAuthority, type Pair } from '../stage/tls-files.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let database: Database
let stage: AlertStage
let at: { readonly workspaceId: string; readonly projectId: string }

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    stage = new AlertStage(world)
    at = {
      workspaceId: decodeId('workspace', world.installed.workspace.id) ?? '',
      projectId: decodeId('project', world.installed.project.id) ?? '',
    }
  },
  { env: { ROLES: 'web,work' }, loops: [] },
)

const DAY_MS = 86_400_000
const now = (afterMs = 0): Date => new Date(world.clock.now() + afterMs)
const validity = (pem: string) => ({ notBefore: new X509Certificate(pem).validFromDate.getTime() })
const uuid = (
  kind: 'destination' | 'webhook' | 'source' | 'workflow' | 'cronTrigger' | 'dataKey',
  id: string,
): string => decodeId(kind, id) ?? ''

/** A cause: what it is about, and what ends it. */
type Planted = { readonly subject: string; readonly end: () => Promise<unknown> }
type Cause = { readonly type: string; readonly resolved: string; readonly plant: () => Promise<Planted> }

async function aReceiver(members: object = {}): Promise<string> {
  return (await aDestination(world, { url: 'http://127.0.0.1:9/', datasets: ['nothing'], ...members })).destination.id
}

const failingMemory = (minutes: number) =>
  JSON.stringify({
    breaker_resets: 0,
    rate: null,
    breaker: {
      state: 'open',
      failures_in_row: 9,
      failing_ms: minutes * 60_000,
      opened_ms: 0,
      probe_in_ms: 1,
      probe_wait_ms: 1,
      cap: 0,
      last_failure: { error_code: 'timeout', status: null },
      counts: [],
    },
  })

const CAUSES: readonly Cause[] = [
  {
    type: 'destination.failing',
    resolved: 'destination.recovered',
    plant: async () => {
      const subject = await aReceiver()
      const id = uuid('destination', subject)
      await database.run(
        sql`update lanes set memory = ${failingMemory(10)}::json, remembered_at = ${now()} where destination_id = ${id}`,
      )
      return { subject, end: () => database.run(sql`update lanes set memory = null where destination_id = ${id}`) }
    },
  },
  {
    type: 'destination.disabled',
    resolved: 'destination.enabled',
    plant: async () => {
      const subject = await aReceiver()
      await database.run(
        sql`update destinations set enabled = false, disabled_reason = 'gone', disabled_at = ${now()} where id = ${uuid('destination', subject)}`,
      )
      return { subject, end: () => stage.ask('PATCH', `destinations/${subject}`, { enabled: true }) }
    },
  },
  {
    type: 'delivery.failed',
    resolved: 'delivery.recovered',
    plant: async () => {
      const subject = await aReceiver()
      await database.run(sql`
        insert into destination_rollups (workspace_id, project_id, destination_id, span_seconds, at, succeeded, failed, interrupted, gave_up, open, response_ms, delivery_ms)
        values (${at.workspaceId}, ${at.projectId}, ${uuid('destination', subject)}, 60, ${now()}, 0, 3, 0, 3, 0, '{}', '{}')
      `)
      return { subject, end: async () => world.clock.advance(3_600_000) }
    },
  },
  {
    type: 'backlog.old',
    resolved: 'backlog.cleared',
    plant: async () => {
      const dataset = aName('waits').replaceAll(' ', '_')
      const subject = await aReceiver({ datasets: [dataset] })
      const { public_url } = await aWebhook(world, { dataset })
      assert.equal((await post(public_url, '{}')).status, 201)
      world.clock.advance(61 * 60_000)
      return {
        subject,
        end: () =>
          database.run(sql`
          update deliveries
             set state = 'cancelled', next_attempt_at = null
           where destination_id = ${uuid('destination', subject)}
        `),
      }
    },
  },
  {
    type: 'signature.failing',
    resolved: 'signature.recovered',
    plant: async () => {
      const { id, public_url } = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'whispered' } })
      for (let n = 0; n < 10; n += 1) assert.equal((await post(public_url, '{}')).status, 401)
      await world.run('rejections.flush')
      return { subject: id, end: async () => world.clock.advance(16 * 60_000) }
    },
  },
  {
    type: 'source.failing',
    resolved: 'source.recovered',
    plant: async () => {
      const { source } = await stage.ask('POST', 'sources', { name: aName('s'), dataset: 'rows', settings: DATABASE })
      const set = (n: number) =>
        database.run(sql`update sources set failures = ${n} where id = ${uuid('source', source.id)}`)
      await set(3)
      return { subject: source.id, end: () => set(0) }
    },
  },
  {
    type: 'source.failing',
    resolved: 'source.recovered',
    plant: async () => {
      const { cron_trigger } = await stage.ask('POST', 'cron-triggers', {
        name: aName('c'),
        expression: '0 9 1 1 *',
        dataset: 'ticks',
      })
      const set = (n: number) =>
        database.run(sql`update cron_triggers set failures = ${n} where id = ${uuid('cronTrigger', cron_trigger.id)}`)
      await set(3)
      return { subject: cron_trigger.id, end: () => set(0) }
    },
  },
  {
    type: 'source.lagging',
    resolved: 'source.caught_up',
    plant: async () => {
      const { source } = await stage.ask('POST', 'sources', { name: aName('s'), dataset: 'rows', settings: DATABASE })
      const set = (bytes: number) =>
        database.run(sql`
          update sources
             set slot = ${JSON.stringify({ retained_bytes: bytes })}::json, slot_due_at = ${now(DAY_MS)}
           where id = ${uuid('source', source.id)}
        `)
      await set(2_000 * 1_048_576)
      return { subject: source.id, end: () => set(1_048_576) }
    },
  },
  {
    type: 'workflow.failing',
    resolved: 'workflow.recovered',
    plant: async () => {
      const { workflow } = await stage.ask('POST', 'workflows', {
        name: aName('w'),
        entry_dataset: 'never',
        steps: [{ id: 'wait', type: 'delay', seconds: 1 }],
      })
      await database.run(sql`
        insert into workflow_instances (workspace_id, project_id, id, workflow_id, version, record_id, dataset, started_by, state, created_at, updated_at, ended_at)
        values (${at.workspaceId}, ${at.projectId}, ${uuidv7Floor(world.clock.now())}, ${uuid('workflow', workflow.id)}, 1, ${uuidv7Floor(world.clock.now())},
                'never', 'record', 'failed', ${now()}, ${now()}, ${now()})
      `)
      return { subject: workflow.id, end: async () => world.clock.advance(3_600_000) }
    },
  },
  {
    type: 'quota.near',
    resolved: 'quota.renewed',
    plant: async () => {
      const month = monthOf(world.clock.now())
      await database.run(sql`update workspaces set plan = 'free' where id = ${at.workspaceId}`)
      await database.run(
        sql`insert into monthly_usage (workspace_id, month, events) values (${at.workspaceId}, ${month}::date, 8500)`,
      )
      return {
        subject: world.installed.workspace.id,
        end: () => database.run(sql`delete from monthly_usage where workspace_id = ${at.workspaceId}`),
      }
    },
  },
  {
    type: 'key.expiring',
    resolved: 'key.renewed',
    plant: async () => {
      const { data_key } = await stage.ask('POST', 'data-keys', {
        name: aName('k'),
        expires_at: now(10 * DAY_MS).toISOString(),
      })
      return {
        subject: data_key.id,
        end: () => database.run(sql`update data_keys set expires_at = null where id = ${uuid('dataKey', data_key.id)}`),
      }
    },
  },
]

const tls = ({ cert, key }: Pair) => ({ certificate: cert, private_key: key })

/** The clock of a world begins before any certificate of today, so it moves to the present first. */
const certificate: Cause = {
  type: 'certificate.expiring',
  resolved: 'certificate.renewed',
  plant: async () => {
    const authority = anAuthority()
    const [old, renewed] = [authority.sign('old', { days: 10 }), authority.sign('renewed', { days: 300 })]
    const { notBefore } = validity(old.cert)
    world.clock.advance(Math.max(0, notBefore + 60_000 - world.clock.now()))
    const subject = await aReceiver({ url: 'https://localhost:9/', tls: tls(old) })
    return { subject, end: () => stage.ask('PATCH', `destinations/${subject}`, { tls: tls(renewed) }) }
  },
}

before(async () => {
  // Otherwise the key that the installation made expires while the clock moves.
  await database.run(sql`update api_keys set expires_at = null`)
})

for (const [index, { type, resolved, plant }] of [...CAUSES, certificate].entries())
  test(`${type} (${index + 1}): a planted cause opens exactly one alert, which resolves when the cause ends`, async () => {
    await stage.look()
    const { subject, end } = await plant()
    await stage.look(15_000)
    await stage.look()
    await stage.look()
    const open = await stage.open(subject)
    assert.deepEqual(
      open.map((alert) => [alert.type, alert.subject.id]),
      [[type, subject]],
    )
    assert.deepEqual(await stage.changes(subject), [`${type} opened`])
    await end()
    await stage.look()
    await stage.look()
    assert.deepEqual(await stage.open(subject), [])
    assert.deepEqual(await stage.changes(subject), [`${type} opened`, `${resolved} resolved`])
  })

test('a type that is turned off opens nothing, and a threshold decides from which value on an alert opens and is critical', async () => {
  const rules = (rule: object) =>
    stage.ask('PATCH', 'alerts/settings', { rules: [{ type: 'source.failing', ...rule }] })
  const { source } = await stage.ask('POST', 'sources', { name: aName('s'), dataset: 'rows', settings: DATABASE })
  const fail = (n: number) =>
    database.run(sql`update sources set failures = ${n} where id = ${uuid('source', source.id)}`)
  await fail(5)
  await rules({ enabled: false })
  await stage.look()
  assert.deepEqual(await stage.open(source.id), [])
  await rules({ enabled: true, threshold: 6, critical: 8 })
  await stage.look()
  assert.deepEqual(await stage.open(source.id), [])
  await fail(6)
  await stage.look()
  await fail(7)
  await stage.look()
  assert.deepEqual(
    (await stage.open(source.id)).map(({ severity, value }) => [severity, value]),
    [['warning', 7]],
  )
  await fail(8)
  await stage.look()
  assert.deepEqual(await stage.changes(source.id), ['source.failing opened', 'source.failing escalated'])
  const wrong = await world.admin('PATCH', 'alerts/settings', { rules: [{ type: 'source.failing', threshold: 9 }] })
  assert.equal(wrong.status, 200, 'a critical value that the threshold passed follows it')
  const settings = await stage.ask('GET', 'alerts/settings')
  assert.deepEqual(
    settings.rules.find((rule: { type: string }) => rule.type === 'source.failing'),
    { type: 'source.failing', enabled: true, threshold: 9, critical: 9 },
  )
  await rules({ threshold: null, critical: 20 })
  await fail(0)
  await stage.look()
})

test('a day without causes opens no alert', async () => {
  await stage.look()
  const known = (await stage.alerts()).length
  for (let hour = 0; hour < 24; hour += 1) {
    assert.equal((await post(`${world.endpoint}/healthy`, '{}')).status, 201)
    await stage.look(3_600_000)
  }
  assert.deepEqual([(await stage.alerts()).length, await stage.open()], [known, []])
})

test('events of Postroad count in no quota, and no allowance holds their deliveries back', async () => {
  const month = monthOf(world.clock.now())
  await database.run(sql`update workspaces set plan = 'free' where id = ${at.workspaceId}`)
  await database.run(sql`
    insert into monthly_usage (workspace_id, month, events, deliveries) values (${at.workspaceId}, ${month}::date, 10000, 50000)
    on conflict (workspace_id, month) do update set events = 10000, deliveries = 50000
  `)
  world.app.deps.configChanged(at.projectId)
  assert.equal((await post(`${world.endpoint}/healthy`, '{}')).status, 429)
  const channel = await aReceiver({ datasets: ['postroad'] })
  await stage.look()
  const alert = (await stage.open(world.installed.workspace.id))[0] ?? assert.fail()
  const { events } = await stage.ask('GET', `alerts/${alert.id}`)
  const [delivery] = await database.many<{ state: string }>(
    sql`select state from deliveries where record_id = ${decodeId('record', events[0].event_id) ?? ''} and destination_id = ${uuid('destination', channel)}`,
  )
  const used = await database.one<{ events: number; deliveries: number }>(
    sql`select events, deliveries from monthly_usage where workspace_id = ${at.workspaceId} and month = ${month}::date`,
  )
  assert.deepEqual([delivery?.state, used.events, used.deliveries], ['pending', 10_000, 50_000])
  await database.run(sql`delete from monthly_usage where workspace_id = ${at.workspaceId}`)
  await database.run(sql`update workspaces set plan = 'self_hosted' where id = ${at.workspaceId}`)
  world.app.deps.configChanged(at.projectId)
  await stage.look()
})

test('an alert of one project is in no other project', async () => {
  const { project } = await stage.ask('POST', 'projects', { name: aName('other') })
  const other = new AlertStage(world, project.id)
  const subject = await aReceiver()
  await database.run(
    sql`update lanes set memory = ${failingMemory(10)}::json, remembered_at = ${now()} where destination_id = ${uuid('destination', subject)}`,
  )
  await stage.look()
  const [alert] = await stage.open(subject)
  assert.deepEqual([await other.alerts(), await other.events()], [[], []])
  assert.equal((await world.admin('GET', `projects/${project.id}/alerts/${alert?.id}`)).status, 404)
  assert.equal((await world.admin('POST', `projects/${project.id}/alerts/${alert?.id}/mute`, {})).status, 404)
  await stage.ask('DELETE', `destinations/${subject}`)
  await stage.look()
  assert.deepEqual(await stage.open(subject), [], 'an alert about a part that was deleted resolves')
})
