import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Database } from '../../src/platform/db.ts'
import type { World } from '../stage/harness.ts'
import { aBrowserOf, aClient, allows, asksFor } from '../stage/oauth-stage.ts'
import { theWorkspace, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The scenarios of the public conformance suite of MCP for authorization servers. The other scenarios about OAuth test clients. */

let world: World
let database: Database
let owner: Member
onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    owner = await theWorkspace(database)
  },
  { loops: [] },
)

const SUITE = 'node_modules/@modelcontextprotocol/conformance/dist/index.js'

type Check = { readonly id: string; readonly status: string; readonly errorMessage?: string }

async function aFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => void server.close(resolve))
  return port
}

/** Runs the suite. A person follows the address that it prints. */
async function checksOf(revision: string): Promise<readonly Check[]> {
  const port = await aFreePort()
  const client = await aClient(world, { redirect_uris: [`http://127.0.0.1:${port}/callback`] })
  const folder = mkdtempSync(join(tmpdir(), 'postroad-oauth-conformance-'))
  try {
    const given = {
      url: world.baseUrl,
      'client-id': client,
      resource: `${world.baseUrl}/mcp`,
      port: String(port),
      'spec-version': revision,
      'output-dir': folder,
    }
    const flags = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value])
    const suite = spawn(process.execPath, [SUITE, 'authorization', ...flags])
    const ended = once(suite, 'close')
    let said = ''
    let visited = false
    suite.stderr.resume()
    for await (const part of suite.stdout) {
      said += String(part)
      const url = new RegExp(`${world.baseUrl}/api/oauth/authorize\\S+(?=\\s)`).exec(said)?.[0]
      if (url === undefined || visited) continue
      visited = true
      const browser = await aBrowserOf(world, owner)
      const page = await asksFor(browser, url.slice(world.baseUrl.length))
      const back = await allows(browser, page, { scope: 'service:read', workspaceId: owner.workspaceId })
      assert.equal((await fetch(back)).status, 200)
    }
    await ended
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('checks.json'))
      .flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as readonly Check[])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

for (const revision of ['2025-11-25', '2026-07-28'])
  test(`the server conforms to the authorization of ${revision}`, async () => {
    const checks = await checksOf(revision)
    assert.deepEqual(
      checks.filter(({ status }) => status !== 'SUCCESS'),
      [],
    )
    assert.ok(checks.length >= 3, JSON.stringify(checks))
  })
