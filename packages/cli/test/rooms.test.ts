import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { routes } from '@postroad/contract'
import type { Command } from 'commander'
import { withIo } from '../src/io.ts'
import { createProgram } from '../src/program.ts'
import { roomTable } from '../src/rooms/table.ts'
import { run } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

/** Tests of the commands that are generated from the routes of the contract. */
const stage = onServer()
const { ok, json, quiet, remote } = stage

test('every route of the API has a command, and no command exists twice', () => {
  const program = createProgram()
  const elsewhere = new Set([
    'attempts.get',
    'config.export',
    'datasetSchemas.get',
    'datasetExports.csv',
    'datasetExports.ndjson',
    'datasetExports.parquet',
    'dataExport.create',
    'dataExport.download',
    'replays.create',
  ])
  for (const [room, verbs] of Object.entries(routes)) {
    for (const verb of Object.keys(verbs)) {
      const entry = roomTable().find((one) => one.room === room && one.verb === verb)
      assert.ok(entry, `${room}.${verb}`)
      if (elsewhere.has(`${room}.${verb}`)) continue
      const [roomWord, verbWord] = entry.words
      const found = program.commands
        .filter((one) => one.name() === roomWord)
        .flatMap((one) => one.commands.filter((each) => each.name() === verbWord))
      assert.equal(found.length, 1, `${roomWord} ${verbWord}`)
    }
  }
})

const namesOf = ({ commands }: Command): readonly string[] => commands.map((one) => one.name())

test('a room has all of its commands when only this room is asked for, by its name or its alias', () => {
  const whole = createProgram()
  for (const room of whole.commands) {
    for (const name of [room.name(), ...room.aliases()]) {
      const part = createProgram({ args: [name] })
      assert.deepEqual(namesOf(part), namesOf(whole), name)
      assert.deepEqual(part.commands.map(namesOf)[whole.commands.indexOf(room)], namesOf(room), name)
    }
  }
})

test('the commands of a room create, list, show, change and delete its items, by name and by id', async () => {
  const made = await json([
    'ingest-keys',
    'create',
    '--name',
    'Shop',
    '--scopes',
    'ingest',
    '--datasets',
    'a',
    '--datasets',
    'b',
  ])
  const { id } = made.ingest_key
  assert.deepEqual([made.ingest_key.scopes, made.ingest_key.datasets], [['ingest'], ['a', 'b']])
  const text = await ok(['ingest-keys', 'create', '--name', 'Shown'])
  assert.match(text, /^Shown only once:\nKey {2}ik_live_\w+\n\nId +iky_\w{26}\nName +Shown\n/)
  assert.match(await ok(['ingest-keys', 'list']), new RegExp(`^Id +Name +Enabled.*\n[^]*^${id} +Shop `, 'm'))
  assert.deepEqual((await quiet(['ingest-keys', 'list'])).split('\n').at(-1), id)
  assert.equal(
    (await json(['ingest-keys', 'update', 'Shop', '--enabled', 'false', '--datasets', 'c'])).ingest_key.enabled,
    false,
  )
  assert.match(await ok(['ingest-keys', 'get', 'Shop']), /\nEnabled +no\n[^]*\nDatasets +c\n/)
  refused(await run(['ingest-keys', 'delete', 'Shop'], remote()), {
    code: 2,
    stderr: /^postroad: Revoke an ingest key: Shop\. .*Add --yes to confirm\.\n$/,
  })
  assert.match(await ok(['ingest-keys', 'delete', 'Shop', '--yes']), new RegExp(`^Revoked ${id}\\.`))
  refused(await run(['ingest-keys', 'get', 'Shop'], remote()), {
    code: 4,
    stderr: /^postroad: There is no ingest key "Shop" here\. See postroad ingest-keys list\.\n$/,
  })
})

test('the members of a request come from options, from --data and from files, and an option takes precedence', async () => {
  const path = join(stage.folder.path, 'conditions.json')
  await writeFile(path, '[{"path":"total","op":"gt","value":40}]')
  const rule = ['rules', 'create', '-d', '{"name":"Not this","dataset":"large","enabled":false}', '--name', 'Large']
  const made = await json([...rule, '--conditions', `@${path}`])
  assert.deepEqual(
    [made.rule.name, made.rule.dataset, made.rule.enabled, made.rule.conditions],
    ['Large', 'large', false, [{ path: 'total', op: 'gt', value: 40 }]],
  )
  assert.match(
    await ok(['rules', 'get', 'Large']),
    /\nConditions +\{"path":"total","op":"gt","value":40\}\nMappings +none\n/,
  )
  for (const _ of [1, 2]) await ok(['ingest-keys', 'create', '--name', 'Twice'])
  refused(await run(['ingest-keys', 'get', 'Twice'], remote()), {
    code: 2,
    stderr: /2 ingest keys have the name "Twice"\. Use the id: iky_/,
  })
  for (const [args, stderr] of [
    [['--conditions', 'nope'], /--conditions must be JSON/],
    [['--enabled', 'yes'], /Allowed choices are true, false/],
    [['-d', '[]'], /--data must be a JSON object/],
  ] as const)
    refused(await run(['rules', 'create', '--name', 'x', '--dataset', 'y', ...args], remote()), { code: 2, stderr })
  refused(await run(['rules', 'create', '--name', 'x'], remote()), { code: 1, stderr: /dataset/ })
})

test('a command prints an answer with one line for each member, of a setting and of each of several objects', async () => {
  const me = await ok(['me', 'get'])
  assert.match(me, /^User id +usr_\w+\nUser name +Somebody\n[^]*^Workspace id +wsp_\w+\nWorkspace slug +cli\d+\n/m)
  assert.match(await ok(['network', 'get']), /^IP allowlist +every address\nYour address +127\.0\.0\.1\n/)
  assert.match(await ok(['dashboard', 'summary']), /\nTotals submissions +\d+\n[^]*\nBacklog held +\d+\n/)
})

test('a command shows the names in the content of a sender unchanged', async () => {
  await ok(['send', 'first', '-d', '{"note":{"by_whom":"Ada"}}'])
  const [id = ''] = (await quiet(['submissions', 'list'])).split('\n')
  const { stdout: text } = await run(['submissions', 'get', id], remote())
  assert.match(text, /\nBody +\{"note":\{"by_whom":"Ada"\}\}\n/)
  assert.match(text, /\nHeaders +host: 127\.0\.0\.1:\d+\n +\S+: /)
  assert.match(text, /\nDecision criteria matched +yes\n/)
})

test('the help lists every command under a heading', async () => {
  const { stdout } = await run(['--help'], {})
  assert.doesNotMatch(stdout, /^Commands:$/m)
  assert.match(stdout, /^Workflows and AI agents:\n {2}workflow-instances /m)
  const search = stdout.indexOf('For operators of the installation:')
  const broadcasts = stdout.indexOf('\n  broadcasts ')
  assert.ok(broadcasts > 0 && broadcasts < search, 'members read announcements')
})

test('a command about a part of an endpoint takes the endpoint by its slug', async () => {
  const { view } = await json([
    'record-views',
    'create',
    'first',
    '--name',
    'Totals',
    '--columns',
    '[{"key":"total","label":"Total"}]',
  ])
  assert.match(await ok(['record-views', 'list', 'first']), new RegExp(`^Id +Name.*\n${view.id} +Totals `))
  await ok(['record-views', 'delete', 'first', view.id, '--yes'])
  assert.equal(
    await ok(['record-views', 'list', 'first']),
    'There are no record views here. See postroad record-views --help.\n',
  )
  assert.equal((await json(['activity', 'list', 'first', '--limit', '1'])).limit, 1)
})

test('a command for people reports how to sign in as one', async () => {
  refused(await run(['members', 'update', 'usr_01kf0rdqg0e31tkzsaqv275w2x', '--role', 'viewer'], remote()), {
    code: 3,
    stderr: /^postroad: .*postroad login.*\n$/,
  })
})

test('every generated help fits 80 columns and has an example', async () => {
  const program = createProgram()
  for (const { words } of roomTable()) {
    const room = program.commands.find((one) => one.name() === words[0])
    const command = room?.commands.find((one) => one.name() === words[1])
    if (command === undefined) continue
    const stdout = Object.assign(new PassThrough(), { columns: 80 })
    await withIo({ env: {}, stdin: new PassThrough(), stdout, stderr: stdout }, async () => command.outputHelp())
    const help = String(stdout.read())
    for (const line of help.split('\n')) assert.ok(line.length <= 80, `${words.join(' ')}: ${line}`)
    assert.match(help, /\nExamples?:\n {2}postroad /)
  }
})
