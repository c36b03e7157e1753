import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AlertStage } from '../stage/alert-stage.ts'
import { aName } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let stage: AlertStage
onWorldStage(
  async (made) => {
    ;({ world } = made)
    stage = new AlertStage(world)
  },
  { loops: [] },
)

const NIGHTS = { name: 'Nights', days: ['mon', 'sun'], from: '22:00', to: '07:00', time_zone: 'Europe/Berlin' }
const exported = async (project: AlertStage) => {
  const { version, alert_rules, quiet_hours } = await project.ask('GET', 'config/export')
  return { version, alert_rules, quiet_hours }
}

test('the rules and quiet hours of a project go into its configuration, and the same configuration makes them in another project', async () => {
  await stage.ask('PATCH', 'alerts/settings', {
    rules: [
      { type: 'destination.failing', threshold: 10, critical: null },
      { type: 'key.expiring', enabled: false },
    ],
    quiet_hours: [NIGHTS],
  })
  const config = await exported(stage)
  assert.deepEqual(config.quiet_hours, [NIGHTS])
  assert.deepEqual(config.alert_rules, [
    { type: 'destination.failing', enabled: true, threshold: 10, critical: null },
    { type: 'key.expiring', enabled: false, threshold: 14, critical: 2 },
  ])
  const { project } = await stage.ask('POST', 'projects', { name: aName('copy') })
  const copy = new AlertStage(world, project.id)
  const { applied } = await copy.ask('POST', 'config/apply', { config })
  assert.equal(applied.create.length, 3)
  assert.deepEqual(await exported(copy), config)
  assert.equal((await copy.ask('POST', 'config/plan', { config })).plan.empty, true)
  const settings = await copy.ask('GET', 'alerts/settings')
  assert.deepEqual(settings, await stage.ask('GET', 'alerts/settings'))
})

test('an entry that is as its type has it changes nothing, and a rule that a configuration leaves out can be deleted', async () => {
  const { project } = await stage.ask('POST', 'projects', { name: aName('second') })
  const second = new AlertStage(world, project.id)
  const config = { version: 1, alert_rules: [{ type: 'backlog.old', threshold: 60, critical: 360 }] }
  assert.equal((await second.ask('POST', 'config/plan', { config })).plan.empty, true)
  await second.ask('PATCH', 'alerts/settings', {
    rules: [{ type: 'backlog.old', threshold: 5 }],
    quiet_hours: [NIGHTS],
  })
  const empty = { version: 1, alert_rules: [], quiet_hours: [] }
  await second.ask('POST', 'config/apply', { config: empty })
  assert.equal((await exported(second)).alert_rules.length, 1)
  await second.ask('POST', 'config/apply', { config: empty, delete_missing: true })
  assert.deepEqual(await exported(second), { version: 1, alert_rules: [], quiet_hours: [] })
})

test('a rule or quiet hours that cannot be are refused with the place and the reason', async () => {
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ rules: [{ type: 'no.such' }] }, /The type of an alert is one of signature\.failing/],
    [{ rules: [{ type: 'quota.near', threshold: 101 }] }, /must be 1 to 100 percent for quota\.near/],
    [
      { rules: [{ type: 'destination.disabled', threshold: 3 }] },
      /destination\.disabled has no threshold\. Leave it out/,
    ],
    [{ rules: [{ type: 'backlog.old', threshold: 9, critical: 3 }] }, /must be at least the threshold, 9/],
    [{ rules: [{ type: 'key.expiring', threshold: 9, critical: 12 }] }, /must be at most the threshold, 9/],
    [{ quiet_hours: [{ ...NIGHTS, time_zone: 'Europe/Nowhere' }] }, /must be an IANA time zone/],
    [{ quiet_hours: [{ ...NIGHTS, from: '24:00' }] }, /must be a time of day, such as 22:00/],
    [{ quiet_hours: [NIGHTS, NIGHTS] }, /the name Nights is there twice/],
  ]
  for (const [body, reason] of refused) {
    const answer = await world.admin('PATCH', 'alerts/settings', body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.match(answer.body.error, reason)
  }
  const config = { version: 1, alert_rules: [{ type: 'quota.near', threshold: 0 }] }
  const answer = await world.admin('POST', 'config/plan', { config })
  assert.match(answer.body.error, /config\.alert_rules\[0\]\.threshold must be 1 to 100 percent/)
})
