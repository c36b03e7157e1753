import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import type { Database } from '../../src/platform/db.ts'
import { runCommand, type Ended } from '../stage/command.ts'
import { aDestination, anIngestKey, aWebhook, post, statement } from '../stage/fixtures.ts'
import { aSink, aWorld, type Answer, type Sink, type World } from '../stage/harness.ts'
import { sse, webSocket, type StreamClient } from '../stage/stream-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The operator suspends a workspace by a command beside two running servers (contract part 1). */
let world: World
let other: World
let sink: Sink
let database: Database

// The commands run in separate processes, whose clock is the clock of the database; these two nodes start there and run
// ahead.
const now = Date.now()
onWorldStage(
  async (made) => {
    ;({ world, database, sink } = made)
    other = await aWorld({ beside: world, now, env: { ROLES: 'web' } })
    made.atEnd(() => other.stop())
  },
  { now, loops: [] },
)

/** Runs the server's command in a separate process, as an operator does. */
const command = (...args: readonly string[]): Promise<Ended> => runCommand(world, args)

const at = (node: World, url: string): string => url.replace(world.baseUrl, node.baseUrl)
const outcome = ({ status, body }: Answer): string => (status === 201 ? '201' : `${status} ${body.reason}`)
const auditRows = (action: string) =>
  database.many<{ actor: string; target: string; details: string }>({
    strings: [`select actor, target, details from audit_rows where action = '${action}' order by id`],
    values: [],
  })

async function deliveryOf(destination: { id: string }): Promise<Answer['body']> {
  const { body } = await world.admin('GET', `deliveries?destination_id=${destination.id}`)
  return body.deliveries[0]
}

test('suspend refuses events and pauses deliveries on every node within a second; reinstate sends the waiting deliveries, and nothing is lost', async () => {
  const { key } = await anIngestKey(world)
  const { public_url } = await aWebhook(world, {
    slug: 'gate',
    dataset: 'gate',
    handshake: { kind: 'hub_challenge', verify_token: 't' },
  })
  const { destination: retried } = await aDestination(world, { url: `${sink.url}retried`, datasets: ['gate'] })
  const { destination: switchedOff } = await aDestination(world, { url: `${sink.url}off`, datasets: ['gate'] })
  const urls = [
    public_url,
    `${public_url}/d`,
    `${world.baseUrl}/v1/ingest/${key}`,
    `${world.baseUrl}/v1/ingest/${key}/d`,
    `${world.baseUrl}/v1/webhooks/${key}/gate`,
  ]
  sink.answer({ status: 500 })
  for (const node of [world, other]) assert.equal(outcome(await post(at(node, public_url), '{"kept":1}')), '201')
  // A node without a sender notifies the others by its own clock, which does not move here.
  other.clock.advance(10)
  await world.idle()
  assert.equal((await world.admin('GET', 'deliveries?state=retrying')).body.deliveries.length, 4)
  const stored = async (): Promise<number> =>
    (await world.admin('GET', 'submissions?limit=200')).body.submissions.length
  const had = await stored()

  const suspended = await command('suspend', world.installed.workspace.slug, '--reason', 'unpaid since May', '--json')
  assert.deepEqual([suspended.code, suspended.stderr], [0, ''])
  const { workspace } = JSON.parse(suspended.stdout)
  assert.deepEqual(
    [workspace.id, workspace.slug, workspace.suspended_reason],
    [world.installed.workspace.id, 'main', 'unpaid since May'],
  )
  await world.idle()
  for (const node of [world, other]) {
    for (const url of urls) assert.equal(outcome(await post(at(node, url), '{}')), '403 workspace_suspended')
    const question = await fetch(`${at(node, public_url)}?hub.challenge=1&hub.mode=subscribe&hub.verify_token=t`)
    assert.equal(question.status, 403)
  }
  const passed = (await stored()) - had
  for (const destination of [retried, switchedOff]) {
    const delivery = await deliveryOf(destination)
    assert.deepEqual(
      [delivery.state, delivery.pause_reason, delivery.next_attempt_at],
      ['paused', 'workspace_suspended', null],
    )
  }
  assert.equal((await world.admin('GET', 'webhooks')).status, 200)
  assert.equal(outcome(await world.admin('POST', 'webhooks', { name: 'x' })), '403 workspace_suspended')
  sink.answer({ status: 200 })
  const sent = sink.received.length
  world.clock.advance(3_600_000)
  other.clock.advance(3_600_000)
  await world.idle()
  for (const url of urls) assert.equal(outcome(await post(url, '{}')), '403 workspace_suspended')
  assert.deepEqual([(await stored()) - had, sink.received.length], [passed, sent])

  await statement(
    database,
    `update destinations set enabled = false, disabled_reason = 'gone', disabled_at = now() where id = '${decodeId('destination', switchedOff.id)}'`,
  )
  const reinstated = await command('reinstate', 'main', '--json')
  assert.deepEqual([reinstated.code, JSON.parse(reinstated.stdout).workspace.suspended_at], [0, null])
  await world.idle()
  for (const node of [world, other]) assert.equal(outcome(await post(at(node, public_url), '{}')), '201')
  await world.idle()
  const { body } = await world.admin('GET', `deliveries?destination_id=${retried.id}&state=delivered`)
  assert.equal(body.deliveries.filter((one: { attempt_count: number }) => one.attempt_count === 2).length, 2)
  const oldest = (await world.admin('GET', `deliveries?destination_id=${retried.id}`)).body.deliveries.at(-1)
  const { attempts } = (await world.admin('GET', `deliveries/${oldest.id}`)).body.delivery
  assert.deepEqual(
    attempts.map((attempt: { trigger: string }) => attempt.trigger),
    ['initial', 'resume'],
  )
  const held = (await world.admin('GET', `deliveries?destination_id=${switchedOff.id}`)).body.deliveries
  assert.ok(
    held.every(
      (one: { state: string; pause_reason: string }) =>
        one.state === 'paused' && one.pause_reason === 'destination_disabled',
    ),
  )
  assert.deepEqual(
    (await auditRows('suspend_workspace')).map(({ actor, target, details }) => [actor, target, details]),
    [['system', workspace.id, '{"reason":"unpaid since May"}']],
  )
  assert.equal((await auditRows('reinstate_workspace')).length, 1)
})

test('suspend closes the open streams on every node within a second, and no node opens a new one', async () => {
  const { key } = await anIngestKey(world)
  // The other node learns of the key.
  await world.idle()
  const streams: { readonly node: World; readonly client: StreamClient }[] = []
  for (const node of [world, other]) {
    for (const speak of [sse, webSocket]) {
      const client = await speak(`${node.baseUrl}/v1/stream?key=${key}`)
      streams.push({ node, client })
    }
  }
  assert.equal((await command('suspend', 'main', '--reason', 'x')).code, 0)
  try {
    await world.idle()
    for (const { clock } of [world, other]) clock.advance(1_000)
    for (const { client } of streams) {
      await client.until(1)
      assert.deepEqual(
        client.events.map(({ type, data }) => [type, data]),
        [['closing', { reason: 'workspace_suspended' }]],
      )
    }
    assert.deepEqual(await Promise.all(streams.map(({ client }) => client.ended)), [0, 4403, 0, 4403])
    // This check precedes the checks of other faults.
    for (const node of [world, other]) {
      for (const query of ['', '&after=nonsense', '&dataset=0'])
        assert.equal((await fetch(`${node.baseUrl}/v1/stream?key=${key}${query}`)).status, 403)
    }
  } finally {
    assert.equal((await command('reinstate', 'main')).code, 0)
    for (const { client } of streams) client.close()
  }
  // Both nodes serve again for the tests that follow.
  await world.idle()
  for (const node of [world, other]) assert.equal(outcome(await post(at(node, world.endpoint), '{}')), '201')
})

test('a request that is under way when the workspace is suspended ends with its real result', async () => {
  const { public_url } = await aWebhook(world, { dataset: 'slow' })
  const begun = Promise.withResolvers<void>()
  const slow = await aSink()
  try {
    const { destination } = await aDestination(world, { url: slow.url, datasets: ['slow'] })
    slow.answer(() => {
      begun.resolve()
      return { status: 200 }
    })
    await post(public_url, '{}')
    await begun.promise
    assert.equal((await command('suspend', 'main', '--reason', 'x')).code, 0)
    await world.idle()
    const { state, attempt_count } = await deliveryOf(destination)
    assert.deepEqual([state, attempt_count], ['delivered', 1])
  } finally {
    assert.deepEqual(await command('reinstate', 'main', '--json').then(({ code, stderr }) => [code, stderr]), [0, ''])
    await slow.stop()
  }
})

describe('the commands', () => {
  test('a second suspension changes nothing and retains the first reason; the reinstatement of an active workspace changes nothing', async () => {
    const had = (await auditRows('suspend_workspace')).length
    await command('suspend', 'main', '--reason', 'first')
    const again = await command('suspend', 'main', '--reason', 'second', '--json')
    assert.deepEqual([again.code, JSON.parse(again.stdout).workspace.suspended_reason], [0, 'first'])
    assert.equal((await auditRows('suspend_workspace')).length, had + 1)
    assert.match((await command('workspaces')).stdout, /^main {2}self_hosted {2}suspended since .*: first$/m)
    assert.equal((await command('reinstate', 'main')).code, 0)
    const reinstated = (await auditRows('reinstate_workspace')).length
    assert.equal((await command('reinstate', 'main')).code, 0)
    assert.equal((await auditRows('reinstate_workspace')).length, reinstated)
  })

  test('the commands list every workspace with its status', async () => {
    const { stdout, code } = await command('workspaces', '--json')
    const { workspaces } = JSON.parse(stdout)
    assert.deepEqual(
      [code, workspaces],
      [
        0,
        [
          {
            id: world.installed.workspace.id,
            slug: 'main',
            name: 'Main',
            plan: 'self_hosted',
            suspended_at: null,
            suspended_reason: null,
          },
        ],
      ],
    )
  })

  test('the commands report a fault in one line: exit code 4 for an unknown workspace, 2 for wrong usage', async () => {
    const unknown = await command('suspend', 'nobody', '--reason', 'x')
    assert.deepEqual([unknown.code, unknown.stdout], [4, ''])
    assert.match(unknown.stderr, /^postroad: There is no workspace "nobody"\..*\n$/)
    for (const args of [
      ['suspend', 'main'],
      ['suspend', '--reason', 'x'],
      ['suspend', 'main', '--reason', ' '],
      ['suspend', 'main', '--reason', 'x'.repeat(501)],
      ['reinstate'],
      ['reinstate', 'main', '--reason', 'x'],
      ['workspaces', 'main'],
    ]) {
      const { code, stderr } = await command(...args)
      assert.equal(code, 2, args.join(' '))
      assert.match(stderr, /^postroad: .+\n$/)
    }
    assert.equal((await command('workspaces')).stdout, 'main  self_hosted  active\n')
  })
})
