import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Accepted } from '@postroad/contract'
import { run, runProcess } from './command-line.ts'
import { listening, sendNumbers } from './listen-stage.ts'
import { aReceiver } from './receiver.ts'
import { onServer, refused } from './server-stage.ts'

/** Tests that `listen` neither loses an event nor sends one twice to a program on this machine. */
const stage = onServer()
const { remote } = stage

async function post(url: string, init: { body: string | Uint8Array<ArrayBuffer>; headers?: Record<string, string> }) {
  const response = await fetch(url, { method: 'POST', ...init })
  assert.equal(response.status, 201)
  return response
}

test('listen sends the body byte for byte with the headers of the sender, and leaves out masked credentials', async (t) => {
  const receiver = await aReceiver()
  t.after(() => receiver.stop())
  const { webhook } = await stage.client.webhooks.create({ name: 'Signed' })
  const listen = await (await listening(t, remote())).start(receiver.url, '--endpoint', 'signed', '--lines')
  const text = '{"b": 1.50,\r\n"n":12345678901234567890,  "type":"order.paid","t":"ü"}'
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'X-Hub-Signature-256': 'sha256=00ff',
    'X-GitHub-Event': 'push',
    Authorization: 'Bearer hidden',
  }
  await post(stage.endpoint, { body: '{"of":"another endpoint"}' })
  const { id } = (await (
    await post(`${webhook.public_url}?tenant=ac%20me&token=hush&ref='1'`, { body: text, headers })
  ).json()) as Accepted
  await receiver.until(1)
  const bytes = gzipSync('{"n":2}')
  await post(webhook.public_url, { body: bytes, headers: { ...headers, 'content-encoding': 'gzip' } })
  await receiver.until(2)
  const [first, second] = receiver.received
  assert.equal(first?.body.toString(), text)
  assert.deepEqual([second?.body, second?.headers['content-encoding']], [bytes, 'gzip'])
  assert.deepEqual([first?.path, second?.path], ['/hook?tenant=ac%20me&ref=%271%27', '/hook'])
  for (const [name, value] of [
    ['content-type', headers['content-type']],
    ['x-hub-signature-256', 'sha256=00ff'],
    ['x-github-event', 'push'],
    ['postroad-submission-id', id],
    ['authorization', undefined],
    ['host', `127.0.0.1:${receiver.port}`],
  ] as const)
    assert.equal(first?.headers[name], value, name)
  assert.match(
    await listen.line(/push/),
    /^\d\d:\d\d:\d\d\.\d{3} {2}200 +\d+ ms {2}push +signed {2}unattempted {2}rec_\w{26}$/,
  )
})

test('listen sends a request with several records once, and only events that meet the filter', async (t) => {
  const receiver = await aReceiver()
  t.after(() => receiver.stop())
  for (const dataset of ['one', 'two'])
    await stage.client.rules.create({ name: dataset, dataset, conditions: [{ path: 'rules', equals: true }] })
  const { key } = await stage.client.ingestKeys.create({ name: 'Rules' })
  const at = await listening(t, remote())
  const listen = await at.start(receiver.url, '--filter', 'amount > 1000', '--filter', 'type = paid', '--json')
  const ingest = (body: object) =>
    post(`${stage.baseUrl}/v1/ingest/${key}`, { body: JSON.stringify({ rules: true, ...body }) })
  await ingest({ amount: 5, type: 'paid' })
  await ingest({ amount: 5_000, type: 'open' })
  const { records } = (await (await ingest({ amount: 5_000, type: 'paid' })).json()) as Accepted
  assert.equal(records.length, 2)
  await ingest({ amount: 6_000, type: 'paid' })
  await receiver.until(2)
  const lines = [await listen.line(/"amount|forwarded/), await listen.line(/forwarded/, 2)].map((line) =>
    JSON.parse(line),
  )
  assert.deepEqual(
    receiver.received.map(({ body }) => JSON.parse(body.toString()).amount),
    [5_000, 6_000],
  )
  assert.deepEqual([lines[0].status, lines[0].event_id, lines[0].title], [200, records[0]?.id, 'paid'])
  for (const filter of ['nonsense', '{"path":"a","op":"regex","value":"("}'])
    assert.notEqual((await run(['listen', receiver.url, '--filter', filter], at.env)).code, 0)
})

test('the position moves only past answered events, and a restart after a kill sends only unanswered events again', async (t) => {
  const receiver = await aReceiver()
  t.after(() => receiver.stop())
  const at = await listening(t, remote())
  const first = await at.startProcess(receiver.url, '--lines', '--in-flight', '3')
  await sendNumbers(() => stage.endpoint, { from: 9_000, count: 4 })
  await receiver.until(4)
  receiver.answers = 'later'
  receiver.received.length = 0
  await sendNumbers(() => stage.endpoint, { from: 9_004, count: 5 })
  await receiver.until(3)
  // The second of three is answered, so the position stays before the first one.
  const [, second] = receiver.received
  receiver.open.splice(1, 1)[0]?.writeHead(500).end()
  await receiver.until(4)
  const ahead = String(second?.headers['postroad-submission-id'])
  await at.position(({ answered }) => answered.includes(ahead))
  await first.kill()
  const unanswered = receiver.numbers().filter((n) => n !== JSON.parse(second?.body.toString() ?? '').n)
  receiver.received.length = 0
  receiver.open.length = 0
  receiver.answers = 'at once'
  await at.start(receiver.url, '--lines')
  await receiver.until(4)
  const again = receiver.numbers()
  assert.equal(new Set(again).size, 4)
  for (const n of unanswered) assert.ok(again.includes(n), `${n} was sent again`)
  assert.ok(!again.includes(JSON.parse(second?.body.toString() ?? '').n), 'an answered event is not sent again')
})

test('listen sends each waiting event once after its target starts', async (t) => {
  const receiver = await aReceiver()
  t.after(() => receiver.stop())
  await receiver.stop()
  const at = await listening(t, remote())
  const listen = await at.start(receiver.url, '--lines')
  const before = await at.position()
  await sendNumbers(() => stage.endpoint, { from: 20_000, count: 20 })
  await listen.line(/nothing listens there\. Events wait/)
  assert.equal((await at.position()).cursor, before.cursor)
  await receiver.start()
  await receiver.until(20)
  await listen.line(/answers again/)
  assert.equal(new Set(receiver.numbers()).size, 20)
  assert.equal(receiver.received.length, 20)
})

test('listen sends an event three times if its connection breaks off each time, and then skips it', async (t) => {
  const receiver = await aReceiver()
  t.after(() => receiver.stop())
  receiver.answers = 'never'
  const at = await listening(t, remote())
  const listen = await at.start(receiver.url, '--lines', '--count', '1')
  await sendNumbers(() => stage.endpoint, { from: 30_000, count: 1 })
  assert.match(await listen.line(/ ERR /), /the connection was closed without a response/)
  assert.equal(await listen.ended, 0)
  assert.equal(receiver.received.length, 3)
})

test('two runs never forward the same stream to the same target', async (t) => {
  const receiver = await aReceiver()
  t.after(() => receiver.stop())
  const at = await listening(t, remote())
  const first = await at.start(receiver.url, '--lines')
  refused(await runProcess(['listen', receiver.url, '--lines'], at.env), {
    code: 1,
    stderr: new RegExp(`^postroad: Another "listen" \\(process ${first.pid}\\) already forwards to `),
  })
  await first.stop()
  await at.start(receiver.url, '--lines')
})

test('listen names the fault of an invalid target', async () => {
  for (const [args, stderr] of [
    [['70000'], /is not a port or a URL/],
    [['ftp://localhost'], /is not a port or a URL/],
    [['3000', '--path', 'hook'], /must start with a slash/],
    [['http://localhost:3000/a', '--path', '/b'], /in the URL or with --path/],
    [[stage.baseUrl], /This target is the server itself/],
    [['3000', '--since', '1h', '--from-now'], /Choose one of/],
  ] as const)
    refused(await run(['listen', ...args], remote()), { code: 2, stderr })
})
