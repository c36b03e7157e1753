import { useState, type ReactElement } from 'react'
import { CodeBlock } from '../../../parts/code-block.tsx'

const NAMES = ['Claude Code', 'Cursor', 'VS Code', 'Codex', 'Other', 'Command line'] as const
type Name = (typeof NAMES)[number]

const json = (value: object): string => JSON.stringify(value, null, 2)

/** The configuration of each program. None contains a secret: the program opens the browser, where the person decides. */
function configurationsOf(origin: string): Readonly<Record<Name, string>> {
  const url = `${origin}/mcp`
  return {
    'Claude Code': `claude mcp add --transport http postroad ${url}`,
    Cursor: json({ mcpServers: { postroad: { url } } }),
    'VS Code': json({ servers: { postroad: { type: 'http', url } } }),
    Codex: `[mcp_servers.postroad]\nurl = "${url}"`,
    Other: json({ mcpServers: { postroad: { type: 'http', url } } }),
    'Command line': `postroad login --url ${origin}`,
  }
}

const TEXTS: Readonly<Record<Name, string>> = {
  'Claude Code': 'Run this command in a terminal. Then type /mcp in Claude Code and choose postroad.',
  Cursor: 'Add this to ~/.cursor/mcp.json, or to .cursor/mcp.json in a repository. Cursor then prompts you to sign in.',
  'VS Code': 'Add this to .vscode/mcp.json in a repository, and start the server there.',
  Codex: 'Add this to ~/.codex/config.toml. Then run codex mcp login postroad.',
  Other: 'Most Model Context Protocol clients accept this format. The client must support OAuth.',
  'Command line': 'Run this command in a terminal, and confirm the code in the browser.',
}

/** How a program is connected. */
export function SetUp(): ReactElement {
  const [at, setAt] = useState<Name>('Claude Code')
  return (
    <>
      <CodeBlock label="Configuration" of={configurationsOf(location.origin)} at={at} go={setAt} />
      <p className="mt-2 text-data text-ink-3">{TEXTS[at]}</p>
      <p className="mt-2 text-data text-ink-3">
        The agent opens a page in your browser, where you choose the workspace and the access level. You do not need to
        copy a key.
      </p>
    </>
  )
}
