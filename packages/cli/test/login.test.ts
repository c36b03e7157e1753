import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { aFolder, run, runAtTerminal, runProcess } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

/** Profiles: a server and a sign-in that the command line remembers. */
const stage = onServer()

async function aConfig(t: TestContext) {
  const folder = await aFolder()
  t.after(() => folder.remove())
  const env = { POSTROAD_CONFIG_DIR: folder.path }
  const ok = async (args: readonly string[], input = ''): Promise<string> => {
    const { code, stdout, stderr } = await run(args, env, input)
    assert.deepEqual([code, stderr], [0, ''])
    return stdout
  }
  return { env, file: join(folder.path, 'profiles.json'), ok }
}

test('login saves an API key that only the owner of the file can read, and every command uses it', async (t) => {
  const { env, file, ok } = await aConfig(t)
  const text = await ok(['login', '--url', stage.server.baseUrl], `${stage.apiKey}\n`)
  assert.match(text, /^Signed in {2}.* \(admin of main, by an API key\)\nServer {5}http:.*\nProfile {4}default\n/)
  assert.ok(!text.includes(stage.apiKey))
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.match(await ok(['endpoints', 'list', '-q']), /^whk_/)
  assert.match(await ok(['profiles', 'list']), /^In use +Profile +Server +Signed in as\n● +default +http:/)
  assert.match(await ok(['logout']), /^Removed default: .*The key still works elsewhere/)
  assert.ok(!(await readFile(file, 'utf8')).includes(stage.apiKey))
  refused(await run(['endpoints', 'list', '--profile', 'default'], env), {
    code: 2,
    stderr: /There is no profile "default"/,
  })
})

test('login does not show the key that a person types', async (t) => {
  const { env } = await aConfig(t)
  const end = await runAtTerminal(
    ['login', '--url', stage.server.baseUrl],
    { ...env, NO_COLOR: '1' },
    `${stage.apiKey}\r`,
  )
  assert.equal(end.code, 0, end.stderr)
  assert.ok(!(end.stdout + end.stderr).includes(stage.apiKey))
})

test('a key that the server refuses is not saved, and neither is anything else', async (t) => {
  const { env } = await aConfig(t)
  const url = ['--url', stage.server.baseUrl]
  for (const [input, code, stderr] of [
    ['hk_nobody', 3, /does not accept this API key/],
    ['hello', 2, /neither an API key \(hk_…\) nor a sign-in link/],
    [`${stage.server.baseUrl}/sign-in#t=nothing`, 3, /./],
  ] as const)
    refused(await run(['login', ...url], env, input), { code, stderr })
  assert.equal((await run(['profiles', 'list', '-q'], env)).stdout, '')
})

test('a key is never sent to a server other than that of its profile', async (t) => {
  const { env, ok } = await aConfig(t)
  await ok(['login', '--url', stage.server.baseUrl], stage.apiKey)
  refused(await run(['endpoints', 'list', '--url', 'https://hooks.example.com'], env), {
    code: 3,
    stderr: /Run postroad login --url https:\/\/hooks\.example\.com, or set SERVICE_TOKEN/,
  })
  refused(await run(['endpoints', 'list', '--profile', 'default', '--url', 'https://hooks.example.com'], env), {
    code: 2,
    stderr: /The profile "default" is for http/,
  })
})

test('a person signs in by a link, creates an API key, and signs out on the server too', async (t) => {
  const { env, file, ok } = await aConfig(t)
  const { stdout } = await runProcess(['sign-in-link', '--json'], stage.local())
  const link = Object.values(JSON.parse(stdout)).find((value) => String(value).includes('#t='))
  await ok(['login', '--profile', 'me'], String(link))
  const made = JSON.parse(
    await ok(['api-keys', 'create', '--name', 'CI', '--role', 'developer', '--expires-at', '30d', '--json']),
  )
  assert.match(made.key, /^hk_/)
  assert.ok(Date.parse(made.api_key.expires_at) > Date.now() + 29 * 86_400_000)
  assert.match(await ok(['api-keys', 'list']), /^Id +Name +Status +Role.*\n[^]*CI +active +developer/)
  const { session } = JSON.parse(await readFile(file, 'utf8')).profiles.me
  assert.match(await ok(['api-keys', 'delete', made.api_key.id, '--yes']), /^Revoked key_/)
  assert.match(await ok(['logout']), /The session has ended\./)
  const { status } = await fetch(`${stage.server.baseUrl}/admin/api/me`, { headers: { cookie: session } })
  assert.equal(status, 401)
  refused(await run(['api-keys', 'create', '--name', 'x', '--role', 'viewer'], { ...env, ...stage.remote() }), {
    code: 3,
    stderr: /postroad login/,
  })
})

test('project use sets the project of the following commands, and --project has precedence', async (t) => {
  const { ok } = await aConfig(t)
  await ok(['login', '--url', stage.server.baseUrl], stage.apiKey)
  await ok(['projects', 'create', '--name', 'Shop', '--slug', 'shop'])
  assert.match(await ok(['project', 'use', 'shop']), /^Project {2}prj_\w{26} {2}shop\n/)
  await ok(['endpoints', 'create', 'Inside'])
  assert.match(await ok(['endpoints', 'list']), /^inside {2}/)
  assert.match(await ok(['endpoints', 'list', '--project', 'default']), /^first {2}/)
  await ok(['project', 'use', 'default'])
  assert.match(await ok(['endpoints', 'list']), /^first {2}/)
})

test('two profiles are used by name', async (t) => {
  const { ok, env } = await aConfig(t)
  await ok(['login', '--url', stage.server.baseUrl, '--profile', 'one'], stage.apiKey)
  await ok(['login', '--url', stage.server.baseUrl, '--profile', 'two'], stage.apiKey)
  assert.equal(await ok(['profiles', 'list', '-q']), 'one\ntwo\n')
  assert.match(await ok(['profiles', 'use', 'one']), /^Commands use one from now on/)
  const { stdout } = await run(['profiles', 'list', '--json'], env)
  assert.deepEqual(
    JSON.parse(stdout).profiles.map(({ name, in_use }: { name: string; in_use: boolean }) => [name, in_use]),
    [
      ['one', true],
      ['two', false],
    ],
  )
})
