import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { Argument, type Command } from 'commander'
import { agrees, canAsk } from '../ask.ts'
import { ownUrl, urlGiven } from '../connection.ts'
import { EXIT, Failure } from '../failure.ts'
import { complain, io, say } from '../io.ts'
import { withEntry, CLIENTS, FILES, shownEntry, type McpClient, type McpEntry } from '../mcp/clients.ts'
import { withExample } from '../options.ts'
import { withYes, type ConfirmOptions } from './confirm.ts'

type AddOptions = ConfirmOptions & {
  readonly url?: string
  readonly name: string
  readonly stdio?: true
  readonly user?: true
  readonly print?: true
}

export function addMcpAdd(mcp: Command): void {
  const add = mcp
    .command('add')
    .summary('add Postroad to the configuration of a coding agent')
    .description(
      'Writes the MCP server into the file of the coding agent, in this folder or with --user in your home folder, after it has asked. Other entries stay. ' +
        'The agent connects by URL and signs in with OAuth in the browser. With --stdio the agent starts this command line instead, which uses its sign-in or the key of this machine.',
    )
    .addArgument(new Argument('<agent>', 'the coding agent').choices([...CLIENTS]))
    .option('--url <url>', 'address of the server (default: POSTROAD_URL)')
    .option('--name <name>', 'name of the entry', 'postroad')
    .option('--stdio', 'start "postroad mcp" instead of connecting to the URL')
    .option('--user', 'for all your projects (cursor, codex)')
    .option('--print', 'print the configuration and change nothing')
    // oxlint-disable-next-line max-params -- the action of commander: `mcp` has --url too, and takes it
    .action((client: McpClient, _own, command: Command) => addServer(client, command.optsWithGlobals()))
  withExample(withYes(add), 'mcp add claude-code', 'mcp add codex --user --stdio', 'mcp add vscode --print')
}

async function addServer(client: McpClient, options: AddOptions): Promise<void> {
  const { name } = options
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name))
    throw new Failure('The name can have letters, digits, - and _. Send another --name.', EXIT.usage)
  const entry = entryOf(options)
  if (options.print === true) return say(shownEntry(client, { name, entry }).trimEnd())
  const path = pathOf(client, options)
  const held = await textAt(path)
  const changed = withEntry(client, { name, entry, held })
  if ('problem' in changed)
    throw new Failure(
      `${path} ${changed.problem}, so it was not changed. Add this entry yourself:\n\n${shownEntry(client, { name, entry })}`,
    )
  if (changed.text === held) return say(`${path} has this entry already.`)
  await confirm(path, { shown: shownEntry(client, { name, entry }), yes: options.yes })
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, changed.text)
  say(`Wrote ${name} to ${path}. ${NEXT[client]}`)
}

const NEXT: Readonly<Record<McpClient, string>> = {
  'claude-code': 'Start Claude Code in this folder, allow the server, and sign in with /mcp.',
  cursor: 'Cursor shows the server in its settings under MCP.',
  codex: 'Run codex mcp login with this name to sign in by URL; a project file needs a trusted project.',
  vscode: 'Start the server with the command "MCP: List Servers".',
}

function entryOf(options: AddOptions): McpEntry {
  const url = urlGiven(options) ?? ownUrl()
  return options.stdio === true ? { command: 'postroad', args: ['mcp', '--url', url] } : { url: `${url}/mcp` }
}

function pathOf(client: McpClient, { user }: AddOptions): string {
  const { project, user: own } = FILES[client]
  if (user !== true) return join(process.cwd(), project)
  if (own === undefined)
    throw new Failure(
      client === 'vscode'
        ? 'The user file of VS Code depends on its profile. Run "MCP: Open User Configuration" there, and add what --print shows.'
        : 'Claude Code changes its user file itself. Run claude mcp add --scope user --transport http with a name and the URL of --print.',
      EXIT.usage,
    )
  return join(io().env['HOME'] ?? homedir(), own)
}

async function textAt(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

async function confirm(
  path: string,
  { shown, yes }: { readonly shown: string; readonly yes: true | undefined },
): Promise<void> {
  if (yes === true) return
  const what = `This will be in ${path}:\n\n${shown.trimEnd()}`
  if (!canAsk()) {
    complain(what)
    throw new Failure('Nothing was written. Add --yes to confirm, or --print to only see it.', EXIT.usage)
  }
  if (!(await agrees(what, 'Write it?'))) throw new Failure('Nothing was written.')
}
