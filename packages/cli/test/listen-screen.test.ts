import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { run as runCommand } from '../src/run.ts'
import { aFolder } from './command-line.ts'
import { aReceiver } from './receiver.ts'
import { onServer } from './server-stage.ts'

/** The full screen of `listen`, at a terminal that the test simulates. */
const stage = onServer()

const ENTER_SCREEN = '\u001b[?1049h'
const LEAVE_SCREEN = '\u001b[?25h\u001b[?1049l'

function aTerminal(env: Readonly<Record<string, string>>) {
  const raw: boolean[] = []
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (to: boolean) => raw.push(to) })
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 100, rows: 30 })
  const stderr = Object.assign(new PassThrough(), { isTTY: true })
  let text = ''
  let errors = ''
  const waiting = new Set<() => void>()
  stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    for (const look of waiting) look()
  })
  return {
    io: { env: { NO_COLOR: '1', ...env }, stdin, stdout, stderr },
    raw,
    text: () => text,
    errors: () => errors,
    press: (keys: string) => stdin.write(keys),
    /** Resolves once the screen shows a match after this call. */
    shows: (pattern: RegExp): Promise<void> => {
      const from = text.length
      return new Promise((resolve) => {
        const look = (): void => {
          if (!pattern.test(text.slice(from))) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      })
    },
  }
}

test('the screen lists events, opens one, sends it again, and restores the terminal', async (t) => {
  const receiver = await aReceiver()
  const folder = await aFolder()
  t.after(async () => {
    await receiver.stop()
    await folder.remove()
  })
  const terminal = aTerminal(stage.remote({ POSTROAD_CONFIG_DIR: folder.path }))
  const connected = terminal.shows(/Connected\. Waiting for events/)
  const ended = runCommand(['listen', receiver.url], terminal.io)
  await Promise.race([connected, ended.then((code) => assert.fail(`It ended with ${code}: ${terminal.errors()}`))])
  assert.ok(terminal.text().startsWith(ENTER_SCREEN))
  const listed = terminal.shows(/› \d\d:\d\d:\d\d\.\d{3} {2}200 +\d+ ms {2}order\.paid/)
  await fetch(stage.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"type":"order.paid","amount":5}',
  })
  await listed
  const details = terminal.shows(/Answer {4}200 in [^]*"amount": 5[^]*The answer[^]*"got":true/)
  terminal.press('\r')
  await details
  const again = terminal.shows(/sent 2 times/)
  terminal.press('r')
  await receiver.until(2)
  await again
  assert.deepEqual(receiver.received[0]?.body, receiver.received[1]?.body)
  const list = terminal.shows(/› \d\d:/)
  terminal.press('\u001b')
  await list
  terminal.press('q')
  assert.equal(await ended, 0)
  assert.ok(terminal.text().includes(LEAVE_SCREEN))
  assert.deepEqual(terminal.raw, [true, false])
})

test('an error restores the terminal, and its sentence is on the restored screen', async (t) => {
  const receiver = await aReceiver()
  const folder = await aFolder()
  t.after(async () => {
    await receiver.stop()
    await folder.remove()
  })
  const { id, key } = await stage.keyOf('viewer')
  const terminal = aTerminal(stage.remote({ POSTROAD_CONFIG_DIR: folder.path, SERVICE_TOKEN: key }))
  const connected = terminal.shows(/Connected\. Waiting for events/)
  const ended = runCommand(['listen', receiver.url], terminal.io)
  await connected
  await stage.client.apiKeys.remove({ id })
  assert.equal(await stage.whileTimePasses(ended), 3)
  assert.ok(terminal.text().endsWith(LEAVE_SCREEN))
  assert.match(terminal.errors(), /revoked|does not accept/)
  assert.deepEqual(terminal.raw, [true, false])
})
