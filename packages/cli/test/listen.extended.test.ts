import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listening, assertEachOnce, sendNumbers } from './listen-stage.ts'
import { aReceiver } from './receiver.ts'
import { onProcess } from './server-process.ts'

/** The promise of `listen` under load and with a server that restarts, for longer than the short tests. */
const stage = onProcess()
const { remote } = stage

const PER_SECOND = 200
const COUNT = 6_000
/** The first number of the second test. The server stores each number once. */
const SECOND = 10_000

test('at 200 events a second listen loses none and sends none twice, through SIGSTOPs and restarts of the server and of itself', async (t) => {
  const receiver = await aReceiver()
  t.after(() => receiver.stop())
  const at = await listening(t, remote())
  let listen = await at.startProcess(receiver.url, '--lines')
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
      listen = await at.startProcess(receiver.url, '--lines')
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

test('a SIGSTOP of listen and restarts of the server and of listen lose no event and send none twice', async (t) => {
  const receiver = await aReceiver()
  t.after(() => receiver.stop())
  const at = await listening(t, remote())
  const first = await at.startProcess(receiver.url, '--lines')
  const url = () => stage.server.endpoint
  await sendNumbers(url, { from: SECOND, count: 100 })
  await receiver.until(100)
  first.signal('SIGSTOP')
  await sendNumbers(url, { from: SECOND + 100, count: 200 })
  first.signal('SIGCONT')
  await receiver.until(300)
  const sending = sendNumbers(url, { from: SECOND + 300, count: 300, perSecond: 200 })
  await receiver.until(350)
  await stage.restart()
  await sending
  await receiver.until(600)
  await first.line(/^Reconnected after/)
  await first.stop()
  await sendNumbers(url, { from: SECOND + 600, count: 100 })
  const second = await at.startProcess(receiver.url, '--lines')
  assert.match(second.lines.join('\n'), /Continues where the last run ended/)
  await receiver.until(700)
  await second.stop()
  assertEachOnce(
    receiver.numbers().map((n) => n - SECOND),
    700,
  )
})
