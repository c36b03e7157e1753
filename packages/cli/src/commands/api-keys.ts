import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { withExample, withPages, withWorkspace, type CommonOptions, type ListOptions } from '../options.ts'
import { print } from '../output.ts'
import { more } from '../text/more.ts'
import { style } from '../text/style.ts'
import { table } from '../text/table.ts'

type Listed = RouteAnswer<Routes['apiKeys']['list']>
type ApiKey = Listed['api_keys'][number]

export function addApiKeys(program: Command): void {
  const apiKeys = program
    .command('api-keys')
    .summary('list API keys, or revoke one')
    .description('The keys of programs that use the API. Only a person can create one, in the console.')
  const list = apiKeys
    .command('list')
    .summary('list API keys')
    .description('Lists the API keys, newest first, without the keys themselves.')
    .action(listApiKeys)
  withExample(withWorkspace(withPages(list)), 'api-keys list')

  const revoke = apiKeys
    .command('revoke')
    .argument('<api-key>', 'the id of an API key (key_…)')
    .summary('end an API key')
    .description('Ends an API key at once: the next request with it is refused. It stays in the list.')
    .action(revokeApiKey)
  withExample(withWorkspace(revoke), 'api-keys revoke key_01kf0rdqg0e31tkzsaqv275w2x')
}

async function listApiKeys({ limit, cursor, ...options }: ListOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.apiKeys.list({ limit, cursor })
  print({ json: answer, ids: answer.api_keys.map(({ id }) => id), text: () => listText(answer) }, options)
}

/** Shows the whole id, because a person revokes a key by its id. */
function listText({ api_keys, next_cursor }: Listed): string {
  if (api_keys.length === 0) return 'There are no API keys here.'
  const rows = table([
    { head: 'Status', cells: api_keys.map(statusOf) },
    { head: 'API key', cells: api_keys.map(({ id }) => id) },
    { head: 'Starts with', cells: api_keys.map(({ shown_prefix }) => shown_prefix), spare: true },
    { head: 'Name', cells: api_keys.map(({ name }) => name), least: 12 },
    { head: 'Role', cells: api_keys.map(({ role }) => role) },
    { head: 'Last use', cells: api_keys.map(({ last_used_at }) => last_used_at?.slice(0, 10) ?? 'never'), spare: true },
    { head: 'Expires', cells: api_keys.map(({ expires_at }) => expires_at?.slice(0, 10) ?? 'never'), spare: true },
  ])
  return [rows, ...more(next_cursor)].join('\n')
}

/** A key whose creator has left the workspace no longer works. */
function statusOf({ status, created_by }: ApiKey): string {
  return status === 'active' && !created_by.is_member ? 'orphaned' : status
}

async function revokeApiKey(id: string, options: CommonOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.apiKeys.remove({ id })
  print(
    { json: answer, ids: [id], text: () => `Revoked ${id}. ${style.dim('The next request with it is refused.')}` },
    options,
  )
}
