import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { run } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

/** `postroad agent register` gets a key without a person. */
const stage = onServer()

test('an agent registers with one command, and the key works in the next one', async () => {
  const env = { POSTROAD_URL: stage.baseUrl, POSTROAD_CONFIG_DIR: join(stage.folder.path, 'config') }
  const terms = await run(['agent', 'register', '--name', 'Deploy bot'], env)
  refused(terms, { code: 2, stderr: /Add --accept-terms 1 to accept them\./ })
  const made = await run(['agent', 'register', '--name', 'Deploy bot', '--accept-terms', '1', '--json'], env)
  assert.equal(made.code, 0, made.stderr)
  const { key, workspace, claim } = JSON.parse(made.stdout)
  assert.match(claim.url, /\/account\/claim#t=hct_\w{43}$/)
  const me = await run(['me', 'get', '--json'], { ...env, SERVICE_TOKEN: key })
  assert.equal(JSON.parse(me.stdout).workspace.id, workspace.id)
  const unclaimed = await run(['api-keys', 'create', '--name', 'Second', '--role', 'viewer'], {
    ...env,
    SERVICE_TOKEN: key,
  })
  refused(unclaimed, { code: 3, stderr: /claim this account first/ })
  const saved = await run(
    ['agent', 'register', '--name', 'Other', '--accept-terms', '1', '--profile', 'bot', '--quiet'],
    env,
  )
  assert.match(saved.stdout, /^hk_\w{43}\n$/)
  assert.equal(JSON.parse((await run(['me', 'get', '--json'], env)).stdout).workspace.slug, 'other')
  const text = await run(['agent', 'register', '--name', 'Third', '--accept-terms', '1'], env)
  assert.match(text.stdout, /API key {4,}hk_\w{43}\n/)
})

test('the command prints the sentence of a refusal of the server', async () => {
  const env = { POSTROAD_URL: stage.baseUrl }
  const wrong = await run(['agent', 'register', '--name', 'x'.repeat(121), '--accept-terms', '1'], env)
  refused(wrong, { code: 3, stderr: /agent_name/ })
  const other = await run(['agent', 'register', '--name', 'Bot', '--accept-terms', '0'], env)
  refused(other, { code: 2, stderr: /Add --accept-terms 1 to accept them\./ })
  refused(await run(['agent', 'register', '--name', 'Bot'], { POSTROAD_URL: 'http://127.0.0.1:1' }), {
    code: 1,
    stderr: /No Postroad server responds/,
  })
})
