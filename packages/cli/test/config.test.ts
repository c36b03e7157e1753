import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { run, runAtTerminal } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

/** Tests of a project in git, which people pull, plan in CI, and apply. */
const stage = onServer()
const { ok, json, quiet, remote } = stage

let file = ''
const inFile = async () => JSON.parse(await readFile(file, 'utf8'))
// oxlint-disable-next-line typescript/no-explicit-any -- a file as a person edits it
const edit = async (change: (config: any) => void): Promise<void> => {
  const config = await inFile()
  change(config)
  await writeFile(file, JSON.stringify(config, null, 2))
}
const plan = (...args: readonly string[]) => run(['config', 'plan', file, '--exit-code', ...args], remote())

test('config pull writes the export unchanged, overwrites an earlier export, and never overwrites another file', async () => {
  file = join(stage.folder.path, 'postroad.json')
  await stage.client.webhooks.create({ name: 'GitHub', verification: { scheme: 'code_host', secret: 'the secret' } })
  await stage.client.rules.create({
    name: 'Large',
    dataset: 'large',
    conditions: [{ path: 'total', op: 'gt', value: 40 }],
    mappings: [{ target: 'n', value: 1 }],
  })
  const text = await ok(['config', 'pull', file])
  assert.match(
    text,
    /^File {10}\S+postroad\.json\nEndpoints {5}2\nRules {9}1\nRecord views {2}0\nDestinations {2}0\nNext /,
  )
  const pulled = await readFile(file, 'utf8')
  assert.equal(await ok(['config', 'pull', '-']), pulled)
  assert.equal(pulled, `${JSON.stringify(JSON.parse(pulled), null, 2)}\n`)
  assert.ok(!pulled.includes('the secret'))
  assert.deepEqual(await json(['config', 'pull', file]), {
    file,
    endpoints: 2,
    rules: 1,
    record_views: 0,
    destinations: 0,
  })
  const other = join(stage.folder.path, 'package.json')
  await writeFile(other, '{"name":"shop"}')
  refused(await run(['config', 'pull', other], remote()), { code: 2, stderr: /is not a Postroad configuration/ })
  assert.equal(await readFile(other, 'utf8'), '{"name":"shop"}')
})

test('config plan --exit-code is 0 while the project matches the file, and 6 when it does not', async () => {
  const same = await plan()
  assert.deepEqual([same.code, same.stderr], [0, ''])
  assert.match(same.stdout, /^Nothing to do\. /m)
  await edit((config) => {
    config.rules[0].conditions[0].value = 50
    config.rules.push({ name: 'New', dataset: 'new' })
  })
  const other = await plan()
  assert.deepEqual([other.code, other.stderr], [6, ''])
  assert.match(
    other.stdout,
    /^\+ rule {2}New\n~ rule {2}Large\n {4}conditions\n {6}- {5}"value": 40\n {6}\+ {5}"value": 50\n\n1 to create, 1 to change, 0 to delete, 2 unchanged\n/,
  )
  assert.equal((await run(['config', 'plan', file], remote())).code, 0, 'without --exit-code')
  const { code, stdout } = await plan('--json')
  assert.deepEqual([code, JSON.parse(stdout).plan.create], [6, [{ kind: 'rule', identity: 'New' }]])
})

test('config apply shows the plan and asks; a program must add --yes', async () => {
  refused(await run(['config', 'apply', file], remote()), { code: 2, stderr: /add --yes/ })
  const no = await runAtTerminal(['config', 'apply', file], remote({ NO_COLOR: '1' }), 'n\n')
  assert.deepEqual([no.code, no.stdout], [1, ''])
  assert.match(no.stderr, /\+ rule {2}New[^]*Apply it\?[^]*Nothing was applied\./)
  assert.equal(await ok(['config', 'apply', file, '--yes']), 'Applied: 1 created, 1 changed, 0 deleted.\n')
  assert.equal((await plan()).code, 0)
  assert.match(await ok(['config', 'apply', file, '--yes']), /^Nothing to do\. /)
})

test('config apply deletes only with --delete, and lists the things that are not in the file', async () => {
  await edit((config) => config.rules.pop())
  const stays = await plan()
  assert.equal(stays.code, 0)
  assert.match(stays.stdout, /not deleted unless you add --delete:\n {2}rule {2}New\n/)
  assert.match((await plan('--delete')).stdout, /^- rule {2}New\n/)
  assert.equal(await ok(['config', 'apply', file, '--delete', '--yes']), 'Applied: 0 created, 0 changed, 1 deleted.\n')
  assert.match(await quiet(['rules', 'list']), /^rul_\w{26}$/)
})

test('config apply copies a file to another project, and lists the secrets to set there', async () => {
  await ok(['projects', 'create', '--name', 'Copy', '--slug', 'copy'])
  const text = await ok(['config', 'apply', file, '--project', 'copy', '--yes'])
  assert.match(text, /^Applied: 3 created, 0 changed, 0 deleted\.\n/)
  assert.match(
    text,
    /401 until you set their verification secret:\n {2}postroad endpoints rotate-secret github --secret-stdin\n/,
  )
  await ok(['endpoints', 'rotate-secret', 'github', '--project', 'copy', '--secret-stdin'], remote(), 'another secret')
  const copied = join(stage.folder.path, 'copy.json')
  await ok(['config', 'pull', copied, '--project', 'copy'])
  assert.equal(
    (await readFile(copied, 'utf8')).replace('"copy"', '"default"'),
    `${JSON.stringify(await inFile(), null, 2)}\n`,
  )
})

test('a plan shows how stored events would be routed differently', async () => {
  const { key } = await stage.client.ingestKeys.create({ name: 'Rules' })
  await fetch(`${stage.baseUrl}/v1/ingest/${key}`, { method: 'POST', body: '{"total":45}' })
  await edit((config) => {
    config.rules[0].conditions[0].value = 40
    const steps = [{ id: 'later', type: 'delay', seconds: 60 }]
    config.workflows = [{ name: 'Follow up', entry_dataset: 'large', steps }]
  })
  const { stdout } = await plan('--recent', '10')
  assert.match(
    stdout,
    /Of the newest 1 events, 1 would be routed differently\.\n {2}sub_\w{26} {2}.*\n {4}\+ record in large by Large\n {4}\+ workflow Follow up on the record in large\n/,
  )
})

test('config plan checks a file by the schema of the server before sending it; numbers retain their digits', async () => {
  const wrong = join(stage.folder.path, 'wrong.json')
  for (const [text, stderr] of [
    ['{', /wrong\.json is not a valid configuration: /],
    ['{"rules":[]}', /is not a valid configuration: it has no version/],
    ['{"version":1,"rules":[{"name":"a","dataset":"b","when":1}]}', /wrong\.json: rules\[0\]: .*\("when"\)\.\n$/],
    ['{"version":1,"rules":[{"name":"a"}]}', /wrong\.json: rules\[0\]: must have required property 'dataset'\.\n$/],
    ['{"version":3}', /wrong\.json: version: must be equal to constant\.\n$/],
  ] as const) {
    await writeFile(wrong, text)
    refused(await run(['config', 'plan', wrong], remote()), { code: 2, stderr })
  }
  refused(await run(['config', 'plan', join(stage.folder.path, 'none.json')], remote()), {
    code: 2,
    stderr: /does not exist/,
  })
  await writeFile(
    wrong,
    '{"version":1,"rules":[{"name":"Big","dataset":"big","mappings":[{"target":"n","value":12345678901234567890}]}]}',
  )
  await ok(['config', 'apply', wrong, '--yes'])
  assert.match(await ok(['config', 'pull', '-']), /"value": 12345678901234567890\n/)
})
