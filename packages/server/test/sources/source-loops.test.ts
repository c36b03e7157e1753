import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anEventServer } from '../stage/event-server.ts'
import { aName } from '../stage/fixtures.ts'
import { aSink, aWorld, eventually } from '../stage/harness.ts'
import { aSocketServer } from '../stage/socket-server.ts'
import { sse } from '../stage/stream-client.ts'
import { asked, payloadsIn } from '../stage/source-stage.ts'

const named = (dataset: string): object => ({ name: aName('source'), dataset })

test('a server with the role work runs every source and trigger, the admin stream names them as origins, and the server closes their connections when it stops', async () => {
  const [api, events, sockets] = [await aSink(), await anEventServer(), await aSocketServer()]
  const world = await aWorld({
    loops: ['cron_triggers.fire', 'sources.poll', 'sources.stream', 'ws_triggers.listen'],
  })
  const stream = await sse(`${world.baseUrl}/admin/api/stream`, {
    headers: { authorization: `Bearer ${world.installed.api_key}` },
  })
  let stopped = false
  let turns = 0
  // One second for 40 turns: leases and commits must not expire while the test waits for a socket.
  const goOn = (): void => {
    turns += 1
    if (turns % 40 === 1) world.clock.advance(1_000)
  }
  try {
    api.answer({ status: 200, body: '[{"from":"api"}]' })
    const { cron_trigger: cron } = await asked(world, 'POST cron-triggers', {
      ...named('ticks'),
      expression: '* * * * *',
    })
    await asked(world, `POST cron-triggers/${cron.id}/run`)
    await asked(world, 'POST sources', { ...named('items'), settings: { kind: 'http_poll', url: api.url } })
    await asked(world, 'POST sources', { ...named('streamed'), settings: { kind: 'sse', url: events.url } })
    await asked(world, 'POST ws-triggers', { ...named('frames'), url: sockets.url })
    await eventually('both streams are connected', async () => {
      goOn()
      return events.open.size > 0 && sockets.open.size > 0 ? true : undefined
    })
    events.send('id: 1\ndata: {"from":"stream"}\n\n')
    sockets.send('{"from":"socket"}')
    await eventually('every source has made an event', async () => {
      goOn()
      const counts = await Promise.all(
        ['ticks', 'items', 'streamed', 'frames'].map(async (dataset) => (await payloadsIn(world, dataset)).length),
      )
      return counts.every((count) => count > 0) ? true : undefined
    })
    const frames = await Promise.all(
      ['ticks', 'items', 'streamed', 'frames'].map((name) => stream.first(({ data }) => data.dataset === name)),
    )
    assert.deepEqual(
      frames.map(({ data }) => data.origin.kind),
      ['cron_trigger', 'source', 'source', 'ws_trigger'],
    )
    assert.equal(frames[0]?.data.origin.id, cron.id)
    await world.stop()
    stopped = true
    await eventually('the server has closed the socket', async () => (sockets.closed.length > 0 ? true : undefined))
    assert.deepEqual(sockets.closed, [1000])
    assert.equal(events.open.size, 0)
  } finally {
    stream.close()
    if (!stopped) await world.stop()
    await Promise.all([api.stop(), events.stop(), sockets.stop()])
  }
})
