import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { prepareTools } from '../../src/surfaces/mcp/prepared.ts'
import { post } from '../stage/fixtures.ts'
import { aWorld, type World } from '../stage/harness.ts'
import { ERAS, type Era } from '../stage/mcp-client.ts'

/**
 * The official Python client, in both eras of the protocol. It is no dependency of the repository: set MCP_PYTHON to a Python that has
 * the package `mcp` 2.3 (`python3 -m venv v && v/bin/pip install mcp==2.3.0`, then MCP_PYTHON=v/bin/python).
 */
const PYTHON = process.env['MCP_PYTHON']
const skip = PYTHON === undefined ? 'Set MCP_PYTHON to a Python with the package mcp.' : false
const PROGRAM = fileURLToPath(new URL('../stage/mcp_client.py', import.meta.url))

let world: World
before(async () => {
  if (PYTHON !== undefined) world = await aWorld({ loops: [] })
})
after(() => world?.stop())

async function walked(era: Era): Promise<Record<string, unknown> & { readonly public_url: string }> {
  const env = { ...process.env, MCP_URL: `${world.baseUrl}/mcp`, MCP_KEY: world.installed.api_key }
  const { stdout } = await promisify(execFile)(PYTHON ?? '', [PROGRAM, era], { env })
  return JSON.parse(stdout) as Record<string, unknown> & { readonly public_url: string }
}

for (const era of ERAS)
  test(
    `the Python client (${era}) lists the tools, calls them, reads a refusal, and undoes a deletion`,
    { skip },
    async () => {
      const { public_url, protocol, resources, ...rest } = await walked(era)
      assert.deepEqual(rest, {
        tools: prepareTools().map(({ tool }) => tool.name),
        role: 'admin',
        matched: [true, false],
        listed: true,
        restored: true,
        refused: [true, 'not_found'],
        prompts: ['add_sender', 'debug_delivery'],
      })
      assert.equal(protocol, era === 'auto' ? '2026-07-28' : '2025-11-25')
      assert.ok(Number(resources) > 5)
      assert.equal((await post(public_url, '{}')).status, 201)
    },
  )
