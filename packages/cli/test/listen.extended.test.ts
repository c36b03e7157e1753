import { test } from 'node:test'
import { listening, assertEachOnce, sendNumbers } from './listen-stage.ts'
import { aReceiver } from './receiver.ts'
import { onServer } from './server-stage.ts'

/** Proves the promise of `listen` under load, for longer than the short tests. */
const stage = onServer()
const { remote } = stage

const PER_SECOND = 200
const COUNT = 6_000

test('at 200 events a second listen loses none and sends none twice, through SIGSTOPs and restarts of the server and of itself', async (t) => {
  const receiver = await aReceiver()
  t.after(() => receiver.stop())
  const at = await listening(t, remote())
  let listen = await at.start(receiver.url, '--lines')
  const sending = sendNumbers(() => stage.server.endpoint, { from: 0, count: COUNT, perSecond: PER_SECOND })
  for (const [reached, act] of [
    [500, 'stop'],
    [1_200, 'restart the server'],
    [2_000, 'restart'],
    [2_800, 'stop while the server restarts'],
    [3_600, 'restart'],
    [4_400, 'stop'],
    [5_000, 'restart the server'],
  ] as const) {
    await receiver.until(reached)
    if (act === 'restart the server') await stage.restart()
    if (act === 'restart') {
      await listen.stop()
      listen = await at.start(receiver.url, '--lines')
    }
    if (act.startsWith('stop')) {
      listen.signal('SIGSTOP')
      if (act === 'stop') await new Promise((resolve) => setTimeout(resolve, 1_500))
      else await stage.restart()
      listen.signal('SIGCONT')
    }
  }
  await sending
  await receiver.until(COUNT)
  await listen.stop()
  assertEachOnce(receiver.numbers(), COUNT)
})
