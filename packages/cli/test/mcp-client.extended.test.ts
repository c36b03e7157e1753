import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { onServer } from './server-stage.ts'

/** `postroad mcp` as the program that an agent starts. */
const stage = onServer()
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

test('a client that starts the command uses the tools in both eras of the protocol', async () => {
  for (const mode of ['legacy', 'auto'] as const) {
    const client = new Client({ name: 'tests', version: '1.0.0' }, { versionNegotiation: { mode } })
    const env = { PATH: process.env['PATH'] ?? '', ...stage.remote() }
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [MAIN, 'mcp'], env, stderr: 'ignore' }),
    )
    const { tools } = await client.listTools()
    assert.ok(tools.some(({ name }) => name === 'event_story'))
    const [me, text] = await Promise.all([
      client.callTool({ name: 'whoami', arguments: {} }),
      client.readResource({ uri: 'postroad://docs/start' }),
    ])
    assert.equal(Reflect.get(me.structuredContent ?? {}, 'role'), 'admin')
    assert.ok(JSON.stringify(text.contents).includes('# Start'))
    await client.close()
  }
})
