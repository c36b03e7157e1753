import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withEntry, type McpClient, type McpEntry } from './clients.ts'

const URL_ENTRY: McpEntry = { url: 'https://hooks.example.com/mcp' }
const STDIO: McpEntry = { command: 'postroad', args: ['mcp', '--url', 'https://hooks.example.com'] }

function written(client: McpClient, held: string | undefined, entry = URL_ENTRY): string {
  const made = withEntry(client, { name: 'postroad', entry, held })
  return 'text' in made ? made.text : assert.fail(made.problem)
}

test('each agent gets the form that it documents', () => {
  assert.deepEqual(JSON.parse(written('claude-code', undefined)), {
    mcpServers: { postroad: { type: 'http', ...URL_ENTRY } },
  })
  assert.deepEqual(JSON.parse(written('cursor', '')), { mcpServers: { postroad: URL_ENTRY } })
  assert.deepEqual(JSON.parse(written('vscode', undefined, STDIO)), {
    servers: { postroad: { type: 'stdio', ...STDIO } },
  })
  assert.equal(written('codex', undefined), '[mcp_servers.postroad]\nurl = "https://hooks.example.com/mcp"\n')
  assert.equal(
    written('codex', undefined, STDIO),
    '[mcp_servers.postroad]\ncommand = "postroad"\nargs = ["mcp","--url","https://hooks.example.com"]\n',
  )
})

test('other entries stay, and a second run changes nothing', () => {
  const others = { mcpServers: { other: { command: 'x', env: { KEY: '1' } } }, inputs: [1] }
  const file = written('cursor', JSON.stringify(others, undefined, 4))
  assert.deepEqual(JSON.parse(file), { ...others, mcpServers: { ...others.mcpServers, postroad: URL_ENTRY } })
  assert.match(file, /^ {4}"mcpServers"/m)
  const toml = 'model = "o5" # mine\n\n[mcp_servers.other]\ncommand = "x"\n'
  const added = written('codex', toml)
  assert.ok(added.startsWith(toml))
  const between = `${added}enabled = false # mine\n\n[mcp_servers.postroad.env]\nA = "1"\n\n[tui]\nx = 1\n`
  const changed = written('codex', between, STDIO)
  assert.ok(
    changed.startsWith(toml) &&
      changed.includes('enabled = false # mine') &&
      changed.includes('[mcp_servers.postroad.env]\nA = "1"\n\n[tui]'),
  )
  assert.ok(!changed.includes('url ='))
  for (const [client, held] of [
    ['cursor', file],
    ['codex', added],
  ] as const)
    assert.equal(written(client, held), held)
})

const refused = (client: McpClient, held: string): boolean =>
  'problem' in withEntry(client, { name: 'postroad', entry: URL_ENTRY, held })

test('a file in another form is not changed', () => {
  assert.ok(refused('vscode', '{ // mine\n}'))
  assert.ok(refused('cursor', '{"mcpServers":[]}'))
  assert.ok(refused('cursor', '[]'))
  assert.ok(refused('codex', 'mcp_servers = { other = { command = "x" } }'))
  assert.ok(refused('codex', '[mcp_servers.postroad]\ncommand = "x"\nargs = [\n  "y",\n]\n'))
})
