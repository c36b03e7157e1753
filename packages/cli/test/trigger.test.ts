import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { run } from './command-line.ts'
import { aReceiver } from './receiver.ts'
import { onServer, refused } from './server-stage.ts'

/** Tests of events in the form of their providers, and of the check of signatures. */
const stage = onServer()
const { ok, json, remote } = stage

const dataOf = async (id: string) => (await stage.client.records.get({ id })).record.data

test('trigger sends an event that the endpoint of the provider accepts, with its name and an id in the places that the preset names', async () => {
  await ok(['endpoints', 'create', 'GitHub', '--preset', 'github', '--secret-stdin'], remote(), 'a secret')
  await ok(['endpoints', 'create', 'Stripe', '--preset', 'stripe', '--secret-stdin'], remote(), 'whsec_secret')
  const push = await json(['trigger', 'github', 'push'])
  const { submission } = await stage.client.submissions.get({ id: push.id })
  assert.equal(submission.headers['x-github-event'], 'push')
  assert.match(submission.headers['x-hub-signature-256'] ?? '', /^sha256=[0-9a-f]{64}$/)
  const paid = await json(['trigger', 'stripe', 'invoice.paid'])
  const data = (await dataOf(paid.records[0].id)) as { type: string; id: string; object: string }
  assert.deepEqual([data.type, data.object], ['invoice.paid', 'event'], 'the sample with another name')
  assert.match(data.id, /^[\w-]{36}$/, 'each event has an id of its own')
  const text = (await run(['trigger', 'stripe', 'invoice.paid'], remote())).stdout
  assert.match(text, /^Sent as Stripe to stripe\nStored /)
  assert.match(text, /The body is the sample of the preset: \{.*"type":"invoice\.paid".*\}\n$/)
})

test('trigger sends the proven request of a preset with the name of the event in its place', async () => {
  await ok(['endpoints', 'create', 'Flux', '--preset', 'flux', '--secret-stdin'], remote(), 'a secret')
  const text = (await run(['trigger', 'flux', 'Failed'], remote())).stdout
  assert.match(text, /The body is the sample of the preset: \{.*"reason":"Failed".*\}\n$/)
})

test('trigger sends the body of the caller unchanged', async () => {
  const { records } = await json(['trigger', 'stripe', 'invoice.paid', '-d', '{"mine":1}'])
  assert.deepEqual(await dataOf(records[0].id), { mine: 1 })
})

test('trigger names the endpoint that is missing, and asks which one when several match', async () => {
  refused(await run(['trigger', 'gitlab', 'push'], remote()), {
    code: 4,
    stderr: /No endpoint is set up for GitLab\. Create one: postroad endpoints create 'GitLab' --preset gitlab/,
  })
  refused(await run(['trigger', 'nobody', 'push'], remote()), { code: 4, stderr: /no source preset "nobody"/ })
  await ok(['endpoints', 'create', 'GitHub two', '--preset', 'github', '--secret-stdin'], remote(), 'another')
  refused(await run(['trigger', 'github', 'push'], remote()), {
    code: 2,
    stderr: /Several endpoints .*github-two, github/,
  })
  assert.equal((await json(['trigger', 'github', 'push', '--endpoint', 'github-two'])).status, 'accepted')
})

test('trigger reports a scheme that only the sender can sign', async () => {
  const { source_presets } = await stage.client.sourcePresets.list()
  const preset = source_presets.find(({ settings }) => settings.verification.scheme === 'public_key')
  assert.ok(preset)
  await json(['endpoints', 'create', preset.name, '--preset', preset.id, '--without-secret'])
  const end = await run(['trigger', preset.id, 'x'], remote())
  assert.equal(end.code, 1)
  assert.match(end.stderr, /^postroad: .+\n$/)
})

test('verify checks a delivery without a server, with a saved request and its secret', async (t) => {
  const receiver = await aReceiver()
  t.after(() => receiver.stop())
  const { signing_secret: secret } = await stage.client.destinations.create({
    name: 'saved',
    url: receiver.url,
    datasets: ['verified'],
  })
  const { webhook } = await stage.client.webhooks.create({ name: 'Verified', dataset: 'verified' })
  await fetch(webhook.public_url, { method: 'POST', body: '{"a":"ü"}' })
  await receiver.until(1)
  const [{ rawHeaders, body } = { rawHeaders: [], body: Buffer.alloc(0) }] = receiver.received
  const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []))
  const file = join(stage.folder.path, 'request.http')
  await writeFile(file, Buffer.concat([Buffer.from(`POST /hook HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`), body]))
  const nowhere = { POSTROAD_URL: 'http://127.0.0.1:1' }
  const valid = await run(['verify', file, '--secret', secret], nowhere)
  assert.deepEqual([valid.code, valid.stderr], [0, ''])
  assert.match(valid.stdout, /^The signature is valid\. Event rec_\w{26} in verified\.\n$/)
  assert.equal((await run(['verify', file, '--secret-stdin'], nowhere, `${secret}\n`)).code, 0)
  assert.equal((await run(['verify', '-', '--secret', secret], nowhere, await readFile(file, 'utf8'))).code, 0)
  const late = await run(['verify', file, '--secret', secret, '--at', '2020-01-01T00:00:00Z', '--json'], nowhere)
  assert.deepEqual([late.code, JSON.parse(late.stdout).reason], [1, 'stale_timestamp'])
  await writeFile(file, (await readFile(file, 'latin1')).replace('"a"', '"b"'), 'latin1')
  const changed = await run(['verify', file, '--secret', secret], nowhere)
  assert.equal(changed.code, 1)
  assert.match(changed.stdout, /^The signature is not valid\. .*does not match the body and the secret/)
})

test('verify explains a request of a sender step by step, with the secret of the endpoint', async () => {
  const { submission } = await stage.client.submissions.get({
    id: (await json(['trigger', 'github', 'push', '--endpoint', 'github'])).id,
  })
  const file = join(stage.folder.path, 'sender.http')
  const head = Object.entries(submission.headers).map(([name, value]) => `${name}: ${value}`)
  await writeFile(file, `${head.join('\n')}\n\n${submission.body}`)
  const text = await ok(['verify', file, '--endpoint', 'github'])
  assert.match(text, /^The signature is valid\.\n(?: {2}✓ .+\n)+$/)
  await writeFile(file, `${head.join('\n')}\n\n${submission.body} `)
  const wrong = await run(['verify', file, '--endpoint', 'github'], remote())
  assert.equal(wrong.code, 1)
  assert.match(wrong.stdout, /^The signature is not valid\.\n[^]* {2}✗ /)
})

test('verify reports a file that is not a request, and missing options', async () => {
  const file = join(stage.folder.path, 'nothing.http')
  await writeFile(file, 'hello')
  for (const [args, stderr] of [
    [[file, '--secret', 'whsec_x'], /This file is not a saved request/],
    [[file], /Add one of --secret, --secret-stdin and --endpoint/],
    [['-', '--secret-stdin'], /Name a file/],
    [[file, '--secret', 'x', '--at', 'noon'], /--at must be a time/],
  ] as const)
    refused(await run(['verify', ...args], {}), { code: 2, stderr })
})
