import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../../server/test/stage/harness.ts'
import { aDestination, aFolder, lives, runProcess, startServer, stopServers } from './command-line.ts'

let folder: Awaited<ReturnType<typeof aFolder>>

before(async () => {
  folder = await aFolder()
})
after(async () => {
  await stopServers()
  await folder.remove()
})

const here = (env: Record<string, string> = {}) => ({ DATA_DIR: folder.path, PORT: '0', ...env })

test('the first start prints in three lines where to look, where to send and how; Ctrl-C ends the server and PostgreSQL', async () => {
  const server = await startServer(folder.path)
  assert.match(
    server.welcome,
    /^\n {2}Console {4}http\S+\/#t=\S+\n {2}Endpoint {3}http\S+\n {2}Try it {5}curl .*http\S+\n\n$/,
  )
  assert.ok(lives(server.pid))
  assert.ok(lives(server.postgresPid))
  const answer = await fetch(server.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  assert.equal(answer.status, 201)
  server.signal('SIGINT')
  assert.deepEqual(await server.ended, { code: 0, stdout: server.welcome, stderr: '' })
  assert.ok(!lives(server.pid))
  assert.ok(!lives(server.postgresPid))
})

test('a later start prints no sign-in link; sign-in-link prints one beside the running server', async () => {
  const server = await startServer(folder.path)
  assert.match(server.welcome, /^\n {2}Console {4}http\S+:\d+\/\n/)
  assert.match(server.welcome, /^ {2}Sign in {4}npx postroad sign-in-link$/m)
  const local = here({ PORT: new URL(server.baseUrl).port })
  const { code, stdout, stderr } = await runProcess(['sign-in-link'], local)
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, new RegExp(`^${server.baseUrl}/#t=\\S+\n$`))
  const answer = await fetch(`${server.baseUrl}/admin/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-requested-with': 'test' },
    body: JSON.stringify({ token: new URL(stdout.trim()).hash.slice(3) }),
  })
  assert.equal(answer.status, 200)
  server.signal('SIGINT')
  assert.equal((await server.ended).code, 0)
})

test('commands work without settings right after the first start, and create no permanent key', async (t) => {
  const fresh = await aFolder()
  const server = await startServer(fresh.path)
  const local = { DATA_DIR: fresh.path, PORT: new URL(server.baseUrl).port }
  const destination = await aDestination(200)
  t.after(() => destination.stop())
  for (const args of [
    ['destinations', 'create', destination.url, '--name', 'erp'],
    ['send', '-d', '{"type":"order.created","total":42.5}'],
    ['deliveries', 'list'],
  ]) {
    // oxlint-disable-next-line no-await-in-loop -- in the order in which a person types them
    const { code, stderr } = await runProcess(args, local)
    assert.deepEqual([code, stderr], [0, ''], args.join(' '))
  }
  const { api_keys } = JSON.parse((await runProcess(['api-keys', 'list', '--json'], local)).stdout)
  const names = api_keys.map(({ name }: { name: string }) => name)
  assert.deepEqual(new Set(names), new Set(['Command line']), 'no key of bootstrap without a request for one')
  for (const { expires_at } of api_keys) assert.ok(Date.parse(expires_at) - Date.now() <= 3_600_000)
  server.signal('SIGINT')
  assert.equal((await server.ended).code, 0)
  await fresh.remove()
})

for (const signals of [['SIGTERM'], ['SIGINT', 'SIGTERM']] as const) {
  test(`${signals.join(' and ')} at once: the server ends cleanly, and no process stays behind`, async () => {
    const server = await startServer(folder.path)
    for (const signal of signals) server.signal(signal)
    assert.equal((await server.ended).code, 0)
    assert.ok(!lives(server.postgresPid))
  })
}

const LOGGED = { LOG_LEVEL: 'info', LOG_FORMAT: 'json' }

/** The processes that began to serve, the first one first. */
const servers = (server: Awaited<ReturnType<typeof startServer>>): readonly number[] =>
  [...server.said().matchAll(/"pid":(\d+).*"event":"server\.started"/g)].map(([, pid]) => Number(pid))

/** A minute, because a process starts meanwhile. */
const LOOKS = 12_000
const serves = (server: Awaited<ReturnType<typeof startServer>>, count: number): Promise<true> =>
  eventually(`process ${count} serves`, async () => servers(server).length === count || undefined, LOOKS)

test('SIGHUP: the installed program takes the port over, twice, and SIGTERM to the first process ends all of them', async () => {
  const server = await startServer(folder.path, LOGGED)
  await serves(server, 1)
  for (const count of [2, 3]) {
    server.signal('SIGHUP')
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await serves(server, count)
    // oxlint-disable-next-line no-await-in-loop -- as above
    assert.equal((await fetch(`${server.baseUrl}/readyz`)).status, 200)
  }
  const pids = servers(server)
  assert.equal(new Set(pids).size, 3)
  server.signal('SIGTERM')
  assert.equal((await server.ended).code, 0)
  for (const pid of [...pids, server.postgresPid]) assert.ok(!lives(pid))
})

test('an invalid setting stops the start with one line that names the setting', async () => {
  const { code, stdout, stderr } = await runProcess(['start'], here({ PORT: 'many' }))
  assert.deepEqual(
    { code, stdout, stderr },
    { code: 1, stdout: '', stderr: 'postroad: PORT must be a port number, 0 to 65535, but it is "many".\n' },
  )
})

test('a port that is taken stops the start with one line, and no PostgreSQL process stays behind', async () => {
  const taken = await aDestination(200)
  const { code, stdout, stderr } = await runProcess(['start'], here({ PORT: String(taken.port) }))
  taken.stop()
  assert.equal(code, 1)
  assert.equal(stdout, '')
  assert.equal(
    stderr,
    `postroad: Port ${taken.port} on 127.0.0.1 is in use. Set PORT to another one, or stop the program that uses it.\n`,
  )
  const next = await startServer(folder.path)
  next.signal('SIGTERM')
  assert.equal((await next.ended).code, 0)
})

test('a second server on the same folder ends with one line, and the first server continues', async () => {
  const first = await startServer(folder.path)
  const { code, stderr } = await runProcess(['start'], here())
  assert.equal(code, 1)
  assert.equal(
    stderr,
    `postroad: ${folder.path} is in use by another Postroad server (process ${first.pid}): stop it, or set DATA_DIR to another folder\n`,
  )
  assert.equal((await fetch(`${first.baseUrl}/readyz`)).status, 200)
  first.signal('SIGINT')
  assert.equal((await first.ended).code, 0)
})

test('bootstrap and doctor work without a running server, and no process stays behind', async () => {
  const made = await runProcess(['bootstrap', '--json'], here())
  assert.equal(made.code, 0, made.stderr)
  assert.match(JSON.parse(made.stdout).api_key, /^hk_/)
  const checked = await runProcess(['doctor'], here())
  assert.equal(checked.code, 0, checked.stdout)
  const next = await startServer(folder.path)
  next.signal('SIGTERM')
  assert.equal((await next.ended).code, 0)
})
