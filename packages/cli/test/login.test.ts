import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { aFolder, beginHere, run, runAtTerminal, runProcess } from './command-line.ts'
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
  const shown = await ok(['login', '--url', stage.baseUrl], `${stage.apiKey}\n`)
  assert.match(shown, /^Signed in {2}.* \(admin of cli\d+, by an API key\)\nServer {5}http:.*\nProfile {4}default\n/)
  assert.ok(!shown.includes(stage.apiKey))
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
    ['login', '--key', '--url', stage.baseUrl],
    { ...env, NO_COLOR: '1' },
    `${stage.apiKey}\r`,
  )
  assert.equal(end.code, 0, end.stderr)
  assert.ok(!(end.stdout + end.stderr).includes(stage.apiKey))
})

/** The owner of the workspace, in a browser. */
async function aPerson() {
  const page = await stage.owner()
  const send = async (path: string, body?: object): Promise<Response> => {
    const method = body === undefined ? 'GET' : 'POST'
    const response = await fetch(stage.baseUrl + path, {
      method,
      headers: { ...page, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    assert.ok(response.ok, `${path}: ${response.status}`)
    return response
  }
  const me = (await (await send('/admin/api/me')).json()) as { workspace: { id: string } }
  return {
    allow: (code: string, scope: string) =>
      send('/api/oauth/device/decision', { user_code: code, decision: 'allow', scope, workspace_id: me.workspace.id }),
    agents: async () =>
      ((await (await send('/admin/api/agents')).json()) as { agents: { scope: string; status: string }[] }).agents,
  }
}

test('login by device stores tokens after a person confirms the code in a browser, and commands renew them', async (t) => {
  const { env, file, ok } = await aConfig(t)
  const person = await aPerson()
  const login = beginHere(['login', '--device', '--url', stage.baseUrl], env)
  const said = text(login.stdout)
  let shown = ''
  for await (const part of login.stderr) {
    shown += String(part)
    const code = /^Code {3}(\S+)$/m.exec(shown)?.[1]
    if (code !== undefined) {
      assert.match(shown, new RegExp(`^Open {3}${stage.baseUrl}/oauth/device\\?user_code=${code}$`, 'm'))
      await person.allow(code, 'service:write')
      break
    }
  }
  assert.equal(await login.ended, 0)
  assert.match(await said, /^Signed in {2}.* \(owner of cli\d+, service:write\)\n/)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.match(await ok(['endpoints', 'list', '-q']), /^whk_/)
  const above = await run(['audit', 'list'], env)
  assert.equal(above.code, 3)
  assert.match(
    above.stderr,
    /Widen its access at http:\/\/\S+\/settings\/agents\?workspace=wsp_\w+&agent=agt_\w+, then repeat/,
  )
  const { stdout } = await run(['profiles', 'list', '--json'], env)
  assert.equal(JSON.parse(stdout).profiles[0].kind, 'agent')
  assert.equal((await person.agents())[0]?.scope, 'service:write')

  // The access token is about to end, and several commands run at the same time.
  const before = JSON.parse(await readFile(file, 'utf8'))
  before.profiles.default.oauth.expires_at = new Date().toISOString()
  await writeFile(file, JSON.stringify(before))
  const list = ['endpoints', 'list', '-q']
  const runs = await Promise.all([runProcess(list, env), runProcess(list, env), run(list, env)])
  assert.deepEqual(
    runs.map(({ code, stderr }) => [code, stderr]),
    [
      [0, ''],
      [0, ''],
      [0, ''],
    ],
  )
  const after = JSON.parse(await readFile(file, 'utf8')).profiles.default.oauth
  assert.notEqual(after.refresh_token, before.profiles.default.oauth.refresh_token)

  assert.match(await ok(['logout']), /The connection has ended\./)
  assert.equal((await person.agents())[0]?.status, 'revoked')
})

test('login saves nothing when the server refuses the key', async (t) => {
  const { env } = await aConfig(t)
  const url = ['--url', stage.baseUrl]
  for (const [input, code, stderr] of [
    ['hk_nobody', 3, /does not accept this API key/],
    ['hello', 2, /neither an API key \(hk_…\) nor a sign-in link/],
    [`${stage.baseUrl}/sign-in#t=nothing`, 3, /./],
  ] as const)
    refused(await run(['login', ...url], env, input), { code, stderr })
  assert.equal((await run(['profiles', 'list', '-q'], env)).stdout, '')
})

test('a command never sends a key to a server other than that of its profile', async (t) => {
  const { env, ok } = await aConfig(t)
  await ok(['login', '--url', stage.baseUrl], stage.apiKey)
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
  await ok(['login', '--profile', 'me'], await stage.signInLink())
  const made = JSON.parse(
    await ok(['api-keys', 'create', '--name', 'CI', '--role', 'developer', '--expires-at', '30d', '--json']),
  )
  assert.match(made.key, /^hk_/)
  assert.ok(Date.parse(made.api_key.expires_at) > Date.now() + 29 * 86_400_000)
  assert.match(await ok(['api-keys', 'list']), /^Id +Name +Status +Role.*\n[^]*CI +active +developer/)
  const { session } = JSON.parse(await readFile(file, 'utf8')).profiles.me
  assert.match(await ok(['api-keys', 'delete', made.api_key.id, '--yes']), /^Revoked key_/)
  assert.match(await ok(['logout']), /The session has ended\./)
  const { status } = await fetch(`${stage.baseUrl}/admin/api/me`, { headers: { cookie: session } })
  assert.equal(status, 401)
  refused(await run(['api-keys', 'create', '--name', 'x', '--role', 'viewer'], { ...env, ...stage.remote() }), {
    code: 3,
    stderr: /postroad login/,
  })
})

test('project use sets the project of the following commands, and --project has precedence', async (t) => {
  const { ok } = await aConfig(t)
  await ok(['login', '--url', stage.baseUrl], stage.apiKey)
  await ok(['projects', 'create', '--name', 'Shop', '--slug', 'shop'])
  assert.match(await ok(['project', 'use', 'shop']), /^Project {2}prj_\w{26} {2}shop\n/)
  await ok(['endpoints', 'create', 'Inside'])
  assert.match(await ok(['endpoints', 'list']), /^inside {2}/)
  assert.match(await ok(['endpoints', 'list', '--project', 'default']), /^first {2}/)
  await ok(['project', 'use', 'default'])
  assert.match(await ok(['endpoints', 'list']), /^first {2}/)
})

test('a command uses one of two profiles by name', async (t) => {
  const { ok, env } = await aConfig(t)
  await ok(['login', '--url', stage.baseUrl, '--profile', 'one'], stage.apiKey)
  await ok(['login', '--url', stage.baseUrl, '--profile', 'two'], stage.apiKey)
  assert.equal(await ok(['profiles', 'list', '-q']), 'one\ntwo\n')
  assert.match(await ok(['profiles', 'use', 'one']), /^Commands now use one/)
  const { stdout } = await run(['profiles', 'list', '--json'], env)
  assert.deepEqual(
    JSON.parse(stdout).profiles.map(({ name, in_use }: { name: string; in_use: boolean }) => [name, in_use]),
    [
      ['one', true],
      ['two', false],
    ],
  )
})
