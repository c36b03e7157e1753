import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

/** The resources that a person creates, shows, changes and deletes from a shell. */
const stage = onServer()
const { ok, json, remote } = stage

test('endpoints create prints the URL, and the URL accepts events immediately', async () => {
  const text = await ok(['endpoints', 'create', 'Orders', '--dataset', 'orders'])
  const [, url = ''] =
    /^orders {2}whk_\w{26}\nOrders · files into orders · open to anyone\n(http\S+)\n$/.exec(text) ?? []
  assert.equal((await fetch(url, { method: 'POST', body: '{"a":1}' })).status, 201)
  assert.equal(await ok(['endpoints', 'get', 'orders']), text)
})

test('endpoints create accepts a scheme with its secret from stdin or without a secret, and never prints the secret', async () => {
  const args = ['endpoints', 'create', 'GitHub', '--scheme', 'code_host', '--secret-stdin', '--json']
  const text = await ok(args, remote(), 'the secret\n')
  assert.ok(!text.includes('the secret'))
  assert.deepEqual(JSON.parse(text).webhook.verification, {
    scheme: 'code_host',
    has_secret: true,
    previous_secret_expires_at: null,
  })
  const later = await json(['endpoints', 'create', 'Stripe', '--scheme', 'payments_provider', '--without-secret'])
  assert.equal(later.webhook.verification.has_secret, false)
  await ok(['endpoints', 'rotate-secret', 'stripe', '--overlap', '0', '--secret-stdin'], remote(), 'whsec_late')
  assert.equal((await json(['endpoints', 'get', 'stripe'])).webhook.verification.has_secret, true)
  refused(await run(['endpoints', 'create', 'None', '--secret-stdin'], remote()), { code: 2, stderr: /add --scheme/ })
})

test('endpoints create takes the settings of a preset, and names the settings that a preset requires', async () => {
  const create = ['endpoints', 'create', 'Payments', '--preset']
  const made = (await json([...create, 'paddle', '--without-secret', '--dataset', 'payments'])).webhook
  const preset = (await json(['source-presets', 'get', 'paddle'])).source_preset
  assert.deepEqual(
    [made.verification, made.event_title, made.dataset],
    [
      { ...preset.settings.verification, has_secret: false, previous_secret_expires_at: null },
      preset.settings.event_title,
      'payments',
    ],
  )
  await ok([...create, 'gitlab', '--secret-stdin'], remote(), 'a token\n')
  const meta = ['-d', '{"handshake":{"kind":"hub_challenge","verify_token":"a token"}}']
  const asked = (await json([...create, 'meta', '--without-secret', ...meta])).webhook
  assert.deepEqual(asked.handshake, { kind: 'hub_challenge', has_verify_token: true })
  for (const [args, code, stderr] of [
    [['github'], 2, /Add --secret-stdin, or --without-secret/],
    [['github', '--scheme', 'hmac', '--without-secret'], 2, /Choose one of --preset and --scheme/],
    [['meta', '--without-secret'], 2, /asks for a verify token/],
    [['nobody', '--without-secret'], 4, /There is no source preset "nobody"/],
  ] as const)
    refused(await run([...create, ...args], remote()), { code, stderr })
})

test('source-presets lists what a search finds, and shows the steps at the provider', async () => {
  const all = (await json(['source-presets', 'list'])).source_presets
  assert.ok(all.length >= 60)
  assert.match(
    await ok(['source-presets', 'list', 'x-gitlab']),
    /^Preset +Name +Scheme +Header\ngitlab +GitLab +static_token +X-Gitlab-Token\n$/,
  )
  assert.equal(
    await ok(['source-presets', 'list', 'no such']),
    'No preset has this in its name or header. See postroad source-presets list.\n',
  )
  // The address of a source file can be wider than a terminal.
  const { stdout: text, code } = await run(['source-presets', 'get', 'paddle'], remote())
  assert.equal(code, 0)
  for (const line of text.split('\n')) assert.ok(line.length <= 80 || line.startsWith('https://'), line)
  assert.match(text, /^Preset +paddle {2}Paddle$/m)
  assert.match(text, /^Signed +\{timestamp\}:\{body\}$/m)
  assert.match(text, /^ 1\. At Paddle, open the webhook settings and add the URL of the endpoint\.$/m)
})

test('endpoints edit changes only the named settings; an option takes precedence over --data', async () => {
  const before = (await json(['endpoints', 'get', 'orders'])).webhook
  const data = '{"name":"Not this","criteria":[{"path":"a","equals":1}]}'
  const after = (await json(['endpoints', 'edit', 'orders', '--name', 'All orders', '--off', '-d', data])).webhook
  assert.deepEqual(
    [after.name, after.enabled, after.criteria, after.dataset, after.public_url],
    ['All orders', false, [{ path: 'a', equals: 1 }], before.dataset, before.public_url],
  )
  assert.equal((await json(['endpoints', 'edit', 'orders', '--on'])).webhook.enabled, true)
  for (const [args, stderr] of [
    [[], /Name a setting to change/],
    [['--on', '--off'], /Choose --on or --off/],
    [['-d', 'nope'], /--data must be a JSON object/],
  ] as const)
    refused(await run(['endpoints', 'edit', 'orders', ...args], remote()), { code: 2, stderr })
  refused(await run(['endpoints', 'edit', 'nobody', '--on'], remote()), { code: 4, stderr: /no endpoint "nobody"/ })
})

test('a delete command deletes nothing unless a person confirms or the command has --yes', async () => {
  refused(await run(['endpoints', 'delete', 'orders'], remote()), {
    code: 2,
    stderr:
      /^postroad: Delete an endpoint: orders\. Postroad then returns 404 .*\. Its events are not deleted\. Add --yes to confirm\.\n$/,
  })
  const { public_url: url } = (await json(['endpoints', 'get', 'orders'])).webhook
  assert.match(
    await ok(['endpoints', 'delete', 'orders', '--yes']),
    /^Deleted whk_\w{26}\.\n.*404 .*\.\nIts events are not deleted\.\nYou can restore it until .*:\npostroad deletions restore del_\w{26}\n$/,
  )
  assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 404)
})

test('the command line shows, changes and deletes destinations by name', async () => {
  await stage.client.destinations.create({ name: 'erp', url: stage.good.url })
  const changed = await ok(['destinations', 'edit', 'erp', '--off', '--dataset', 'orders', '-d', '{"timeout_ms":5000}'])
  assert.match(changed, /^Destination {2}dst_\w{26} {2}erp\n/)
  assert.match(changed, /^Datasets {5}orders$/m)
  assert.equal(await ok(['destinations', 'get', 'erp']), changed)
  const { destination } = await json(['destinations', 'get', 'erp'])
  assert.deepEqual([destination.enabled, destination.timeout_ms], [false, 5_000])
  refused(await run(['destinations', 'delete', 'erp'], remote()), { code: 2, stderr: /Add --yes/ })
  await ok(['destinations', 'delete', 'erp', '--yes'])
  refused(await run(['destinations', 'get', 'erp'], remote()), { code: 4, stderr: /no destination "erp"/ })
})

test('the command line creates, renames and deletes projects, and creates resources in the named project', async () => {
  const made = await ok(['projects', 'create', '--name', 'Shop', '--slug', 'shop'])
  assert.match(made, /^Id +prj_\w{26}\n[^]*Slug +shop\n/)
  assert.match(await ok(['endpoints', 'create', 'Inside', '--project', 'shop']), /\/shop\//)
  assert.equal((await json(['projects', 'update', 'shop', '--name', 'Web shop'])).project.name, 'Web shop')
  assert.match(await ok(['projects', 'list']), /^prj_\w{26} .*shop.* Web shop|^prj_\w{26} +Web shop +shop/m)
  refused(await run(['projects', 'delete', 'default', '--yes'], remote()), { code: 1, stderr: /cannot be deleted/ })
  await ok(['projects', 'delete', 'shop', '--yes'])
  refused(await run(['endpoints', 'list', '--project', 'shop'], remote()), { code: 4, stderr: /no project "shop"/ })
})
