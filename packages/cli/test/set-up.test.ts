import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run, runAtTerminal } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

const stage = onServer()
const { ok, json, remote } = stage

test('api-keys lists the keys without showing any of them, and names a key that does not exist', async () => {
  const { api_keys } = await json(['api-keys', 'list'])
  assert.equal(api_keys[0].shown_prefix, stage.apiKey.slice(0, 11))
  const text = await ok(['api-keys', 'list'])
  assert.match(text, new RegExp(`^${api_keys[0].id} +test +active +admin`, 'm'))
  assert.ok(!text.includes(stage.apiKey))
  refused(await run(['api-keys', 'revoke', 'key_01kf0rdqg0e31tkzsaqv275w2x', '--yes'], remote()), {
    code: 4,
    stderr: /Nothing with this id exists here/,
  })
})

test('api-keys revoke ends a key immediately', async () => {
  const { id, key } = await stage.keyOf('developer')
  await ok(['endpoints', 'list'], remote({ SERVICE_TOKEN: key }))
  assert.match(await ok(['api-keys', 'revoke', id, '--yes']), new RegExp(`^Revoked ${id}\\.`))
  refused(await run(['endpoints', 'list'], remote({ SERVICE_TOKEN: key })), { code: 3, stderr: /was revoked/ })
})

test('destinations create shows the secret only this once, and names the destination after its host', async () => {
  const text = await ok(['destinations', 'create', stage.good.url])
  assert.match(
    text,
    new RegExp(
      `^Destination {2}dst_\\w{26} {2}127\\.0\\.0\\.1:${stage.good.port}\nDelivers to {2}${stage.good.url}\nDatasets {5}all\nSecret {7}whsec_\\S+ {2}shown only once\n`,
    ),
  )
  const made = await json([
    'destinations',
    'create',
    stage.good.url,
    '--name',
    'Two',
    '--dataset',
    'a',
    '--dataset',
    'b',
    '-d',
    '{"timeout_ms":5000}',
  ])
  assert.deepEqual(
    [made.destination.name, made.destination.datasets, made.destination.timeout_ms],
    ['Two', ['a', 'b'], 5_000],
  )
  assert.match(made.signing_secret, /^whsec_/)
  const rows = (await ok(['destinations', 'list'])).split('\n')
  assert.match(rows[0] ?? '', /^State {2}Destination {21}Name {2,}URL/)
  assert.match(rows[1] ?? '', /^● on {3}dst_\w{26} {2}Two {2,}http:/)
  for (const data of ['[]', 'nope', '"x"'])
    refused(await run(['destinations', 'create', stage.good.url, '-d', data], remote()), {
      code: 2,
      stderr: /--data must be a JSON object/,
    })
  refused(await run(['destinations', 'create', 'nowhere'], remote()), { code: 1, stderr: /^postroad: .+\n$/ })
  refused(await run(['destinations', 'create', stage.good.url, '-d', '{"color":"red"}'], remote()), {
    code: 1,
    stderr: /unknown field "color"/,
  })
})

test('destinations create --order-by sets an order by key, confirms it, and repeats the error of the API for an invalid path', async () => {
  assert.match(
    await ok([
      'destinations',
      'create',
      stage.good.url,
      '--name',
      'ordered',
      '--dataset',
      'ordered',
      '--order-by',
      'customer.id',
    ]),
    /^Order {8}by customer\.id$/m,
  )
  const made = await json([
    'destinations',
    'create',
    stage.good.url,
    '--name',
    'ordered too',
    '--dataset',
    'ordered',
    '--order-by',
    'key',
    '-d',
    '{"ordering":"none"}',
  ])
  assert.deepEqual(made.destination.ordering, { path: 'key' }, 'an option takes precedence')
  refused(await run(['destinations', 'create', stage.good.url, '--name', 'none', '--order-by', ''], remote()), {
    code: 1,
    stderr: /A path may not be empty; write one such as "items\.0\.id"\./,
  })
  refused(await run(['destinations', 'create', stage.good.url, '--name', 'none', '--order-by', 'a..b'], remote()), {
    code: 1,
    stderr: /A path may not have an empty step/,
  })
})

test('an endpoint can get a new URL or a new secret, and the command line lists its versions', async () => {
  const { webhook } = await stage.client.webhooks.create({
    name: 'Turned',
    slug: 'turned',
    verification: { scheme: 'hmac', secret: 'old' },
  })
  assert.match(
    await ok(['endpoints', 'rotate', 'turned', '--overlap', '0']),
    /^The new URL\nhttp\S+\nThe previous URL has expired\.\n$/,
  )
  const rotated = await json(['endpoints', 'rotate', 'turned'])
  assert.deepEqual([rotated.id, typeof rotated.previous_public_url], [webhook.id, 'string'])
  assert.match(
    await ok(['endpoints', 'rotate-secret', 'turned']),
    /Secret {8}\S+ {2}shown only once\nPrevious one {2}works until /,
  )
  for (const command of ['rotate', 'rotate-secret'])
    refused(await run(['endpoints', command, 'turned'], remote()), {
      code: 1,
      stderr: /^postroad: The previous (?:URL|secret) still works until .* or add --end-overlap\.\n$/,
    })
  const given = await ok(
    ['endpoints', 'rotate-secret', 'turned', '--end-overlap', '--secret-stdin'],
    remote(),
    'theirs\n',
  )
  assert.ok(!given.includes('theirs') && !given.includes('shown only once'))
  const before = (await stage.client.webhooks.get({ id: webhook.id })).webhook.public_url
  const asked = await runAtTerminal(
    ['endpoints', 'rotate', 'turned', '--end-overlap', '--overlap', '0'],
    remote(),
    'n\n',
  )
  assert.deepEqual([asked.code, asked.stdout], [1, ''])
  assert.match(
    asked.stderr,
    /The current URL stops working immediately\..*\nThe previous URL, which is valid until .*, stops working immediately\./,
  )
  assert.equal((await stage.client.webhooks.get({ id: webhook.id })).webhook.public_url, before, 'nothing was rotated')
  const agreed = await runAtTerminal(['endpoints', 'rotate', 'turned', '--end-overlap'], remote(), 'y\n')
  assert.equal(agreed.code, 0)
  assert.notEqual((await stage.client.webhooks.get({ id: webhook.id })).webhook.public_url, before)
  await stage.client.webhooks.update({ id: webhook.id, name: 'Renamed' })
  assert.match(await ok(['endpoints', 'versions', 'turned']), /Version .*\n +2 .* name/)
  refused(await run(['endpoints', 'rotate', 'nobody'], remote()), {
    code: 4,
    stderr: /^postroad: There is no endpoint "nobody" here\./,
  })
  refused(await run(['endpoints', 'rotate', 'turned', '--overlap', '721'], remote()), { code: 2, stderr: /0 to 720/ })
})
