import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { run as runCommand } from '../src/run.ts'
import { begin, run } from './command-line.ts'

const SECRET = `whsec_${Buffer.from('a secret of a destination').toString('base64')}`
const EVENT =
  '{"id":"rec_1","dataset":"orders","received_at":"2026-01-15T12:00:00.000Z","data":{"total":12345678901234567890}}'

type Sink = { readonly url: string; readonly ended: Promise<{ code: number; stdout: string; stderr: string }> }

/** Runs `postroad sink` in this process, and returns once it listens. */
async function aSink(...args: readonly string[]): Promise<Sink> {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  let [out, err] = ['', '']
  const listening = Promise.withResolvers<string>()
  const look = (): void => {
    const url = /Listening(?: at|) +(\S+)/.exec(out + err)?.[1]
    if (url !== undefined) listening.resolve(url)
  }
  stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    look()
  })
  stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
    look()
  })
  const stdin = new PassThrough()
  const ended = runCommand(['sink', '--port', '0', ...args], { env: {}, stdin, stdout, stderr }).then((code) => ({
    code,
    stdout: out,
    stderr: err,
  }))
  void ended.then(() => listening.reject(new Error(`It ended: ${err}`)))
  return { url: await listening.promise, ended }
}

function signed(body: string, at = Math.floor(Date.now() / 1_000)): Record<string, string> {
  const digest = createHmac('sha256', SECRET).update(`${at}.${body}`).digest('hex')
  return { 'Service-Signature': `t=${at},v1=${digest}`, 'Service-Event-Id': 'rec_1', 'Service-Attempt': '1' }
}

const statusOf = async (url: string, headers: Record<string, string>, body = EVENT): Promise<number> =>
  (await fetch(url, { method: 'POST', headers, body })).status

test('a sink prints each request digit for digit, and answers 200', async () => {
  const sink = await aSink('--count', '2')
  assert.equal(await statusOf(`${sink.url}hooks?a=1`, { 'Service-Event-Id': 'rec_1' }), 200)
  assert.equal(await statusOf(sink.url, {}, 'no JSON\u001b[31m'), 200)
  const { code, stdout, stderr } = await sink.ended
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /destinations create http:\/\/127\.0\.0\.1:\d+\/ --name sink\n/)
  assert.match(stdout, /POST \/hooks\?a=1 {2}answered 200\n {2}service-event-id {2}rec_1\n/)
  assert.match(stdout, /\n {4}"total": 12345678901234567890\n|"total": 12345678901234567890/)
  assert.match(stdout, /\n {2}no JSON\\x1b\[31m\n/, 'text of a sender cannot control the terminal')
})

test('a sink with the secret reports whether each signature is valid, and answers 401 to an invalid one', async () => {
  const sink = await aSink('--secret', SECRET, '--count', '3')
  const statuses = [
    await statusOf(sink.url, signed(EVENT)),
    await statusOf(sink.url, signed(`${EVENT} `)),
    await statusOf(sink.url, {}),
  ]
  assert.deepEqual(statuses, [200, 401, 401])
  const { stdout } = await sink.ended
  assert.match(stdout, /answered 200 {2}signature valid\n/)
  assert.match(stdout, /answered 401\n {2}The signature in Service-Signature does not match the body and the secret\./)
  assert.match(stdout, /answered 401\n {2}The request has neither a Service-Signature nor a webhook-signature header/)
  assert.ok(!stdout.includes(SECRET))
})

test('a sink answers with the configured status, and prints JSON lines for programs', async () => {
  const sink = await aSink('--status', '500', '--count', '1', '--json')
  assert.equal(await statusOf(sink.url, signed(EVENT)), 500)
  const { stdout } = await sink.ended
  const { method, path, body, signature, answered, headers } = JSON.parse(stdout)
  assert.deepEqual([method, path, body, signature, answered], ['POST', '/', EVENT, null, 500])
  assert.equal(headers['service-event-id'], 'rec_1')
})

test('a sink names a port that is taken and suggests another way; Ctrl-C ends a sink without an error', async () => {
  const child = begin(['sink', '--port', '0'], {})
  const url = await new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /Listening +(\S+)/.exec(chunk.toString())?.[1]
      if (found !== undefined) resolve(found)
    })
  })
  const taken = await run(['sink', '--port', new URL(url).port], {})
  assert.deepEqual([taken.code, taken.stdout], [1, ''])
  assert.match(taken.stderr, /^postroad: Port \d+ is in use\. Choose another one with --port/)
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGINT')
  assert.equal(await ended, 0)
})
