import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run, runPiped } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

const stage = onServer()
const { ok, json, quiet, remote } = stage

test('--json prints exactly the answer of the API, and --quiet prints the ids', async () => {
  await stage.client.webhooks.create({ name: 'Second' })
  const answers = {
    endpoints: stage.client.webhooks.list({ limit: 20 }),
    events: stage.client.records.list({ limit: 20 }),
    deliveries: stage.client.deliveries.list({ limit: 20 }),
    destinations: stage.client.destinations.list({ limit: 20 }),
  }
  for (const [noun, answer] of Object.entries(answers)) assert.deepEqual(await json([noun, 'list']), await answer, noun)
  assert.equal(await quiet(['endpoints', 'list']), (await answers.endpoints).webhooks.map(({ id }) => id).join('\n'))
})

test('a list continues where the previous page ended', async () => {
  const first = await ok(['endpoints', 'list', '--limit', '1'])
  const cursor = /There are more: add --cursor (\S+)/.exec(first)?.[1]
  assert.ok(cursor)
  assert.match(await ok(['endpoints', 'list', '-n', '1', '--cursor', cursor]), /^first {2}/)
})

test('an empty list explains how to create the first item', async () => {
  const { project } = await stage.client.projects.create({ name: 'Empty', slug: 'empty' })
  for (const [noun, words] of [
    ['endpoints', 'There are no endpoints here. Create one: postroad endpoints create <name>'],
    ['rules', 'There are no rules here. See postroad rules --help.'],
    ['events', 'There are no events here. Send one: postroad send'],
    ['deliveries', 'There are no deliveries here. Create a destination first: postroad destinations create https://…'],
    ['destinations', 'There are no destinations here. Create one: postroad destinations create https://…'],
  ] as const) {
    const { stdout } = await run([noun, 'list', '--project', 'empty'], remote())
    assert.equal(stdout, `${words}\n`)
    assert.equal(await quiet([noun, 'list', '--project', project.id]), '')
  }
  refused(await run(['send', '--project', 'empty'], remote()), {
    code: 4,
    stderr: /^postroad: This project has no endpoint to send to\.\n$/,
  })
})

test('a command cuts no cell and omits no column of a table that is piped to a program', async () => {
  const name = 'A destination whose name is longer than what a narrow terminal has room for'
  await stage.client.destinations.create({ name, url: stage.good.url, datasets: ['one', 'two'] })
  const { stdout } = await runPiped(['destinations', 'list'], remote())
  const row = stdout.split('\n').find((line) => line.includes('A destination'))
  assert.ok(row?.includes(name) && row.includes(stage.good.url) && row.includes('one, two'), stdout)
  assert.ok(!(await ok(['destinations', 'list'])).includes(name))
})

test('POSTROAD_URL and SERVICE_TOKEN name the server and the key, and so do their aliases', async () => {
  const { POSTROAD_URL = '', SERVICE_TOKEN = '' } = remote()
  for (const env of [
    { POSTROAD_URL, SERVICE_TOKEN },
    { SERVICE_URL: POSTROAD_URL, POSTROAD_TOKEN: SERVICE_TOKEN },
    { POSTROAD_URL, SERVICE_URL: 'http://127.0.0.1:1', SERVICE_TOKEN, POSTROAD_TOKEN: 'hk_other' },
  ])
    assert.match(await ok(['endpoints', 'list', '--quiet'], env), /^whk_/)
})
