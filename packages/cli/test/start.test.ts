import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { aDestination, aFolder, lives, run, startServer, stopServers } from './command-line.ts'

let folder: Awaited<ReturnType<typeof aFolder>>

before(async () => {
  folder = await aFolder()
})
after(async () => {
  await stopServers()
  await folder.remove()
})

const here = (env: Record<string, string> = {}) => ({ DATA_DIR: folder.path, PORT: '0', ...env })

test('start says in three lines where to look, where to send and how; Ctrl-C ends it, and PostgreSQL with it', async () => {
  const server = await startServer(folder.path)
  assert.match(server.welcome, /^\n {2}Console {4}http\S+\n {2}Endpoint {3}http\S+\n {2}Try it {5}curl .*http\S+\n\n$/)
  assert.ok(lives(server.pid))
  assert.ok(lives(server.postgresPid))
  const answer = await fetch(server.endpoint, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
  assert.equal(answer.status, 201)
  server.signal('SIGINT')
  assert.deepEqual(await server.ended, { code: 0, stdout: server.welcome, stderr: '' })
  assert.ok(!lives(server.pid))
  assert.ok(!lives(server.postgresPid))
})

for (const signals of [['SIGTERM'], ['SIGHUP'], ['SIGINT', 'SIGTERM']] as const) {
  test(`${signals.join(' and ')} at once: it ends in order, and leaves nobody behind`, async () => {
    const server = await startServer(folder.path)
    for (const signal of signals) server.signal(signal)
    assert.equal((await server.ended).code, 0)
    assert.ok(!lives(server.postgresPid))
  })
}

test('a wrong setting stops the start with one line that names it', async () => {
  const { code, stdout, stderr } = await run(['start'], here({ PORT: 'many' }))
  assert.deepEqual({ code, stdout, stderr }, { code: 1, stdout: '', stderr: 'postroad: PORT must be a port number, 0 to 65535, but it is "many".\n' })
})

test('a port that is taken stops the start with one line, and PostgreSQL is not left behind', async () => {
  const taken = await aDestination(200)
  const { code, stdout, stderr } = await run(['start'], here({ PORT: String(taken.port) }))
  taken.stop()
  assert.equal(code, 1)
  assert.equal(stdout, '')
  assert.equal(stderr, `postroad: Port ${taken.port} on 127.0.0.1 is taken. Set PORT to another one, or stop the program that has it.\n`)
  const next = await startServer(folder.path)
  next.signal('SIGTERM')
  assert.equal((await next.ended).code, 0)
})

test('a second server on the same folder is refused with one line, and the first goes on', async () => {
  const first = await startServer(folder.path)
  const { code, stderr } = await run(['start'], here())
  assert.equal(code, 1)
  assert.equal(stderr, `postroad: ${folder.path} is in use by another Postroad server (process ${first.pid}): stop it, or set DATA_DIR to another folder\n`)
  assert.equal((await fetch(`${first.baseUrl}/readyz`)).status, 200)
  first.signal('SIGINT')
  assert.equal((await first.ended).code, 0)
})

test('bootstrap and doctor work without a running server, and leave nobody behind', async () => {
  const made = await run(['bootstrap', '--json'], here())
  assert.equal(made.code, 0, made.stderr)
  assert.match(JSON.parse(made.stdout).api_key, /^hk_/)
  const checked = await run(['doctor'], here())
  assert.equal(checked.code, 0, checked.stdout)
  const next = await startServer(folder.path)
  next.signal('SIGTERM')
  assert.equal((await next.ended).code, 0)
})
