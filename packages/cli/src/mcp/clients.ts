/** The configuration of an MCP server in the form of each coding agent. Everything else in its file stays as it is. */

export const CLIENTS = ['claude-code', 'cursor', 'codex', 'vscode'] as const
export type McpClient = (typeof CLIENTS)[number]

/** How the agent reaches Postroad: by its URL, or by a program that it starts. */
export type McpEntry = { readonly url: string } | { readonly command: string; readonly args: readonly string[] }

/** The file for one project, and the one for all projects of a person, in their home folder. */
export const FILES: Readonly<Record<McpClient, { readonly project: string; readonly user: string | undefined }>> = {
  // `claude mcp add --scope user` writes a file with much else, so only Claude Code changes it.
  'claude-code': { project: '.mcp.json', user: undefined },
  cursor: { project: '.cursor/mcp.json', user: '.cursor/mcp.json' },
  codex: { project: '.codex/config.toml', user: '.codex/config.toml' },
  vscode: { project: '.vscode/mcp.json', user: undefined },
}

type Members = Record<string, unknown>
export type Changed = { readonly text: string } | { readonly problem: string }

/** The file with the entry under this name. `held` undefined: there is no file yet. */
export function withEntry(
  client: McpClient,
  { name, entry, held }: { readonly name: string; readonly entry: McpEntry; readonly held: string | undefined },
): Changed {
  if (client === 'codex') return withTable(held ?? '', { name, lines: tomlOf(name, entry) })
  return withMember(held, { list: client === 'vscode' ? 'servers' : 'mcpServers', name, entry: jsonOf(client, entry) })
}

/** The part that is added, for a person who adds it. */
export function shownEntry(
  client: McpClient,
  { name, entry }: { readonly name: string; readonly entry: McpEntry },
): string {
  const made = withEntry(client, { name, entry, held: undefined })
  return 'text' in made ? made.text : ''
}

/** Cursor and VS Code know the type by the members, and Claude Code and VS Code also name it. */
function jsonOf(client: McpClient, entry: McpEntry): Members {
  if (client === 'cursor') return { ...entry }
  return { type: 'url' in entry ? 'http' : 'stdio', ...entry }
}

type Json = { readonly list: string; readonly name: string; readonly entry: Members }

function withMember(held: string | undefined, { list, name, entry }: Json): Changed {
  const file = held === undefined || held.trim() === '' ? {} : parsed(held)
  if (file === undefined) return { problem: 'is not plain JSON (comments and trailing commas count too)' }
  const servers = file[list] ?? {}
  if (!isMembers(servers)) return { problem: `has a "${list}" that is not an object` }
  const indent = /\n([ \t]+)"/.exec(held ?? '')?.[1] ?? '  '
  return { text: `${JSON.stringify({ ...file, [list]: { ...servers, [name]: entry } }, undefined, indent)}\n` }
}

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parsed(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    return isMembers(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** JSON strings and lists of strings are TOML too. */
const tomlOf = (name: string, entry: McpEntry): readonly string[] => [
  `[mcp_servers.${name}]`,
  ...Object.entries(entry).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
]

const isHeader = (line: string): boolean => /^\s*\[/.test(line)

/** Replaces the table of the server, or adds it at the end. Its comments and subtables, such as `env`, stay. */
function withTable(
  held: string,
  { name, lines }: { readonly name: string; readonly lines: readonly string[] },
): Changed {
  const all = held.split('\n')
  const start = all.findIndex((line) => new RegExp(`^\\s*\\[\\s*mcp_servers\\s*\\.\\s*"?${name}"?\\s*\\]`).test(line))
  if (start < 0) {
    if (new RegExp(`^\\s*mcp_servers\\b|^\\s*${name}\\b.*=.*\\{`, 'm').test(held))
      return { problem: 'sets mcp_servers in another form than a table' }
    const before = held.trimEnd()
    return { text: `${before === '' ? '' : `${before}\n\n`}${lines.join('\n')}\n` }
  }
  const next = all.findIndex((line, at) => at > start && isHeader(line))
  const end = next < 0 ? all.length : next
  const kept = all.slice(start + 1, end).filter((line) => !/^\s*(?:url|command|args)\s*=/.test(line))
  if (all.slice(start + 1, end).some((line) => /^\s*args\s*=\s*\[[^\]]*$/.test(line)))
    return { problem: `has "args" of ${name} over several lines` }
  return { text: [...all.slice(0, start), ...lines, ...kept, ...all.slice(end)].join('\n') }
}
