import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { run } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

const stage = onServer()
const { ok, json, quiet, remote } = stage

test('send reports the stored event, the destinations that get it, the destinations that do not, and the command to run next', async () => {
  const alone = await ok(['send'])
  assert.match(
    alone,
    /^Stored {3}sub_\w{26} {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC\nEvent {4}rec_\w{26} {2}in events\nGoes to {2}no destination yet; create one: .*\nNext {5}postroad events get rec_\w{26}\n$/,
  )
  await ok(['destinations', 'create', stage.good.url, '--name', 'good'])
  await ok(['destinations', 'create', stage.good.url, '--name', 'orders only', '--dataset', 'orders'])
  await ok([
    'destinations',
    'create',
    stage.good.url,
    '--name',
    'large',
    '-d',
    '{"conditions":[{"path":"amount","op":"gt","value":1000}]}',
  ])
  const text = await ok(['send', 'first', '-d', '{"amount":12}'])
  assert.match(text, /→ good\n/)
  assert.match(text, /· not orders only: it receives other datasets\n/)
  assert.match(text, /· not large: only when amount gt 1000; it is 12\n/)
})

test('send prints colors for FORCE_COLOR, and none when the output is not a terminal', async () => {
  const color = /\u001b\[/ // oxlint-disable-line no-control-regex -- the test looks for exactly this
  assert.doesNotMatch((await run(['send'], remote())).stdout, color)
  assert.match((await run(['send'], remote({ FORCE_COLOR: '1' }))).stdout, color)
})

async function bodyOf(args: readonly string[], input = ''): Promise<string> {
  const id = (await ok(['send', ...args, '-q'], remote(), input)).trim()
  return (await stage.client.records.get({ id })).record.data_text
}

test('the body for send comes from text, a file, stdin or a sample', async () => {
  const path = join(stage.folder.path, 'event.json')
  await writeFile(path, '{"from":"file"}')
  assert.equal(await bodyOf(['-d', '{"n":12345678901234567890}']), '{"n":12345678901234567890}')
  assert.equal(await bodyOf(['-d', `@${path}`]), '{"from":"file"}')
  assert.equal(await bodyOf(['-d', '-'], '{"from":"stdin"}'), '{"from":"stdin"}')
  assert.equal(JSON.parse(await bodyOf(['--sample', 'payment'])).type, 'payment.succeeded')
  assert.equal(await bodyOf([]), '{"hello":"world"}')
})

test('send reports the event of an endpoint with its own response, too', async () => {
  const { webhook } = await stage.client.webhooks.create({ name: 'Silent', response: { status: 204 } })
  assert.match(await ok(['send', webhook.slug, '-d', '{"a":1}']), /^Stored .*\nEvent .* in silent\n/)
})

test('send to a bare URL needs no token, and --json prints the answer of the endpoint', async () => {
  const accepted = await json(['send', stage.endpoint, '-d', '{"a":1}'], {})
  assert.equal(accepted.status, 'accepted')
  assert.match(await ok(['send', stage.endpoint], {}), /^Stored .*\nEvent .*\nNext /)
})

test('send with a key stores an event once, and reports a repeat', async () => {
  const key = `cli-${Date.now()}`
  const first = await json(['send', '-d', '{"a":1}', '--key', key])
  assert.equal(first.duplicate, false)
  assert.deepEqual(await json(['send', '-d', '{"a":1}', '--key', key]), { ...first, duplicate: true })
  assert.match(await ok(['send', '-d', '{"a":1}', '--key', key]), /^Known /)
  refused(await run(['send', '-d', '{"a":2}', '--key', key], remote()), {
    code: 1,
    stderr: /Idempotency-Key was used for another path or body/,
  })
  refused(await run(['send', '--key', 'with a space'], remote()), { code: 1, stderr: /1 to 255 printable/ })
})

test('send signs an event as each kind of sender does', async () => {
  const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ok!').toString('base64')}`
  for (const scheme of [
    'payments_provider',
    'code_host',
    'commerce_platform',
    'chat_platform',
    'standard_webhooks',
    'hmac',
  ] as const) {
    const { webhook } = await stage.client.webhooks.create({
      name: `Signed ${scheme}`,
      verification: { scheme, secret },
    })
    assert.match(await quiet(['send', webhook.slug, '--sign', secret]), /^rec_/)
    assert.match(await quiet(['send', webhook.public_url, '--sign', secret, '--scheme', scheme]), /^rec_/)
    refused(await run(['send', webhook.id, '--sign', 'wrong'], remote()), {
      code: 3,
      stderr: /^postroad: .*signature.*\n$/i,
    })
  }
  const { webhook } = await stage.client.webhooks.create({
    name: 'Own hmac',
    verification: { scheme: 'hmac', secret, header: 'X-Sign', algorithm: 'sha1', encoding: 'base64', prefix: 'v=' },
  })
  assert.match(await quiet(['send', webhook.slug, '--sign', secret]), /^rec_/)
  refused(await run(['send', 'first', '--sign', secret], remote()), {
    code: 2,
    stderr: /^postroad: Name the signature scheme with --scheme: payments_provider, /,
  })
  refused(await run(['send', '--scheme', 'hmac'], remote()), { code: 2, stderr: /--scheme needs --sign/ })
})

test('an endpoint stores an event that its criteria do not match, and send explains why no dataset got it', async () => {
  await stage.client.webhooks.create({ name: 'Picky', criteria: [{ path: 'type', op: 'equals', value: 'paid' }] })
  assert.match(
    await ok(['send', 'picky', '-d', '{"type":"open"}']),
    /\nFiled {3}nowhere, because the criteria of the endpoint require\n {8}type equals "paid"; it is "open"\n$/,
  )
  assert.match(await ok(['send', 'picky', '-d', '{}']), /type equals "paid"; there is no such value\n$/)
})
