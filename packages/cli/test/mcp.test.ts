import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { aFolder, run, type Environment } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

/** `postroad mcp` carries messages between an agent that starts a program and the MCP server. */
const stage = onServer()
const { remote } = stage
const LIST = '{"jsonrpc":"2.0","id":5,"method":"tools/list"}\n'

const whoami = (id: number): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'whoami', arguments: {} } })}\n`

/** The answers to these lines, by their ids. */
// oxlint-disable-next-line typescript/no-explicit-any -- read as a client without types would
async function answers(input: string, env: Environment): Promise<ReadonlyMap<unknown, any>> {
  const { code, stdout, stderr } = await run(['mcp'], env, input)
  assert.equal(code, 0, stderr)
  const lines = stdout.split('\n').filter((line) => line !== '')
  return new Map(lines.map((line) => JSON.parse(line)).map((answer) => [answer.id, answer]))
}

test('postroad mcp answers each request once with its id, and does not answer a notification', async () => {
  const notice = '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
  const heard = await answers(`${notice}${whoami(1)}\n${whoami(2)}${LIST}`, remote())
  assert.deepEqual(new Set(heard.keys()), new Set([1, 2, 5]))
  assert.equal(heard.get(2).result.structuredContent.role, 'admin')
})

test('a key that the server does not accept, and the sign-in of a person, end the command with the remedy', async () => {
  const wrong = await run(['mcp'], remote({ SERVICE_TOKEN: 'hk_wrong' }), LIST)
  refused(wrong, { code: 3, stderr: /does not accept this API key/ })
  const folder = await aFolder()
  try {
    const profile = { url: stage.baseUrl, session: 'service_session=x' }
    await writeFile(
      join(folder.path, 'profiles.json'),
      JSON.stringify({ current: 'me', profiles: { me: profile }, projects: {} }),
    )
    const person = await run(['mcp'], { POSTROAD_CONFIG_DIR: folder.path, SERVICE_TOKEN: '' }, LIST)
    refused(person, { code: 3, stderr: /Set SERVICE_TOKEN to an API key/ })
  } finally {
    await folder.remove()
  }
})
