import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

/** What a person sets up from a shell: created, shown, changed and deleted. */
const stage = onServer()
const { ok, json, quiet, remote } = stage

test('endpoints create prints the URL, which takes events at once', async () => {
  const text = await ok(['endpoints', 'create', 'Orders', '--dataset', 'orders'])
  const [, url = ''] =
    /^orders {2}whk_\w{26}\nOrders · files into orders · open to anyone\n(http\S+)\n$/.exec(text) ?? []
  assert.equal((await fetch(url, { method: 'POST', body: '{"a":1}' })).status, 201)
  assert.equal(await ok(['endpoints', 'get', 'orders']), text)
})

test('endpoints create takes a scheme with its secret from stdin, or without it, and never prints it', async () => {
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

test('endpoints edit changes what is named and nothing else; an option has precedence over --data', async () => {
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

test('nothing is deleted unless a person agrees or --yes is there', async () => {
  refused(await run(['endpoints', 'delete', 'orders'], remote()), {
    code: 2,
    stderr: /^postroad: This deletes the endpoint orders\. Its URL answers 404 from then on\. Add --yes to do it\.\n$/,
  })
  const { public_url: url } = (await json(['endpoints', 'get', 'orders'])).webhook
  assert.match(
    await ok(['endpoints', 'delete', 'orders', '--yes']),
    /^Deleted whk_\w{26}\. What it received stays\.\n$/,
  )
  assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 404)
})

test('destinations are shown, changed and deleted by their name', async () => {
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

test('rules are created, listed, changed and deleted', async () => {
  const data = '{"conditions":[{"path":"total","op":"gt","value":40}]}'
  const made = await ok(['rules', 'create', 'Large', 'large', '-d', data])
  assert.match(made, /^Rule {8}rul_\w{26} {2}Large\n/)
  assert.match(made, /^Conditions {2}\{"path":"total","op":"gt","value":40\}\nMappings {4}none: /m)
  assert.equal(await ok(['rules', 'get', 'Large']), made)
  const edited = await json(['rules', 'edit', 'Large', '--name', 'Larger', '--off'])
  assert.deepEqual([edited.rule.name, edited.rule.enabled, edited.rule.dataset], ['Larger', false, 'large'])
  assert.match(await ok(['rules', 'list']), /^State {2,}Rule {2,}Name .*\n○ off +rul_\w{26} {2}Larger +large +1 +0\n$/)
  assert.equal(await quiet(['rules', 'list']), edited.rule.id)
  await ok(['rules', 'delete', 'Larger', '--yes'])
  assert.equal(await quiet(['rules', 'list']), '')
})

test('projects are created, renamed and deleted, and hold what is made in them', async () => {
  const made = await ok(['projects', 'create', 'Shop', '--slug', 'shop'])
  assert.match(
    made,
    /^Project {2}prj_\w{26} {2}Shop\nSlug {5}shop\nNext {5}postroad endpoints create <name> --project shop\n$/,
  )
  assert.match(await ok(['endpoints', 'create', 'Inside', '--project', 'shop']), /\/shop\//)
  assert.equal((await json(['projects', 'rename', 'shop', 'Web shop'])).project.name, 'Web shop')
  assert.match(await ok(['projects', 'list']), /^prj_\w{26} {2}shop +Web shop /m)
  refused(await run(['projects', 'delete', 'default', '--yes'], remote()), { code: 1, stderr: /cannot be deleted/ })
  await ok(['projects', 'delete', 'shop', '--yes'])
  refused(await run(['endpoints', 'list', '--project', 'shop'], remote()), { code: 4, stderr: /no project "shop"/ })
})
