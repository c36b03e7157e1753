import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { EXIT, Failure } from '../failure.ts'
import { complain, io, say } from '../io.ts'
import { withExample, withUrl, type ConnectionOptions } from '../options.ts'
import { runBridge } from '../mcp/bridge.ts'
import { addMcpAdd } from './mcp-add.ts'

export function addMcp(program: Command): void {
  const mcp = program
    .command('mcp')
    .summary('connect a coding agent through stdin and stdout')
    .description(
      'Carries messages of the Model Context Protocol between stdin and stdout and the MCP server at /mcp, for agents that start a ' +
        'program instead of connecting to a URL. Such an agent starts this command with SERVICE_TOKEN in its environment. The tools have the permissions of the key.\n\n' +
        'An agent that connects to a URL needs no bridge: give it the address of the server followed by /mcp, and the header Authorization with the key.',
    )
    .action(serveClient)
  withExample(withUrl(mcp), 'mcp', 'mcp --url https://hooks.example.com')
  addMcpAdd(mcp)
}

async function serveClient(options: ConnectionOptions): Promise<void> {
  const { baseUrl, headers } = await connect(options)
  if ((await headers())['Authorization'] === undefined)
    throw new Failure(
      'The MCP server requires an API key, but this profile contains a person’s sign-in. Set SERVICE_TOKEN to an API key (hk_…).',
      EXIT.refused,
    )
  const { stdin: input } = io()
  if (input.isTTY === true) complain('Waiting for messages of an MCP client on stdin. Press Ctrl-D to end.')
  await runBridge({ url: `${baseUrl}/mcp`, headers, input, write: say, report: complain })
}
