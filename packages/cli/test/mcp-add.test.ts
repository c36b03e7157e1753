import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { aFolder, run } from './command-line.ts'

/** `postroad mcp add` writes the configuration of a coding agent, with consent. */
test('--print changes nothing, a program must consent with --yes, and other entries stay', async () => {
  const home = await aFolder()
  const env = { HOME: home.path, POSTROAD_CONFIG_DIR: home.path }
  const add = (...args: readonly string[]) =>
    run(['mcp', 'add', 'codex', '--user', '--url', 'https://hooks.example.com', ...args], env)
  const file = join(home.path, '.codex', 'config.toml')
  try {
    const printed = await add('--print')
    assert.equal(printed.stdout, '[mcp_servers.postroad]\nurl = "https://hooks.example.com/mcp"\n')
    const asked = await add()
    assert.deepEqual([asked.code, /Add --yes to confirm/.test(asked.stderr)], [2, true])
    await assert.rejects(readFile(file))
    assert.match((await add('--yes')).stdout, /^Wrote postroad to /)
    await writeFile(file, `${await readFile(file, 'utf8')}\n[tui]\nx = 1\n`)
    assert.match((await add('--yes')).stdout, /has this entry already/)
    assert.match((await add('--yes', '--stdio')).stdout, /^Wrote postroad to /)
    assert.equal(
      await readFile(file, 'utf8'),
      '[mcp_servers.postroad]\ncommand = "postroad"\nargs = ["mcp","--url","https://hooks.example.com"]\n\n[tui]\nx = 1\n',
    )
    const none = await run(['mcp', 'add', 'vscode', '--user', '--url', 'https://hooks.example.com'], env)
    assert.match(none.stderr, /MCP: Open User Configuration/)
  } finally {
    await home.remove()
  }
})
