import type { Command } from 'commander'
import type { RegisteredAgent, RegistrationChallenge } from '@postroad/contract'
import { solve } from '../agent/solve.ts'
import { ownUrl, urlGiven } from '../connection.ts'
import { EXIT, Failure } from '../failure.ts'
import { http } from '../http.ts'
import { complain, io } from '../io.ts'
import { withExample, type ConnectionOptions } from '../options.ts'
import { print, type OutputOptions } from '../output.ts'
import { changeProfiles } from '../profiles.ts'
import { plain } from '../text/plain.ts'
import { fields } from '../text/table.ts'

type RegisterOptions = ConnectionOptions &
  OutputOptions & { readonly name: string; readonly contact?: string; readonly acceptTerms?: string }

const ANSWER_MS = 60_000

export function addAgent(program: Command): void {
  const agent = program
    .command('agent')
    .summary('register an agent without a person')
    .description('For agents that have no API key yet.')
  const register = agent
    .command('register')
    .summary('create a workspace and an API key for an agent')
    .description(
      'Gets a challenge from the server, solves it, which takes seconds, and registers the agent. The API key and the claim URL are ' +
        'printed once and not stored, unless you save the key with --profile. Give the claim URL to the person that the agent works for. That person becomes the workspace owner.',
    )
    .requiredOption('--name <name>', 'agent name, also used for the workspace')
    .option(
      '--contact <contact>',
      'email address or URL of the people behind the agent, for the operators of the server',
    )
    .option('--accept-terms <version>', 'the version of the Terms that the agent accepts')
    .option('--url <url>', 'address of the server (default: POSTROAD_URL)')
    .option('--profile <profile>', 'save the key in this profile and use it by default')
    .option('--json', 'print the response of the API as JSON')
    .option('-q, --quiet', 'print the key only')
    .action(registerAgent)
  withExample(
    register,
    'agent register --url https://hooks.example.com --name "Deploy bot" --accept-terms 1',
    'agent register --name "Deploy bot" --accept-terms 1 --json',
  )
}

async function registerAgent(options: RegisterOptions): Promise<void> {
  const url = urlGiven(options) ?? ownUrl()
  const challenge = await asked<RegistrationChallenge>(url, '/v1/agents/register/challenge')
  const { parameters, signature, terms_version: version, terms_url: terms } = challenge
  // Checked before the work, which would be useless.
  if (options.acceptTerms !== version)
    throw new Failure(
      `This server has Terms, version ${version}${terms === null ? '' : `, at ${terms}`}. Add --accept-terms ${version} to accept them.`,
      EXIT.usage,
    )
  const solution = await solve(parameters, progress)
  const made = await asked<RegisteredAgent>(url, '/v1/agents/register', {
    agent_name: options.name,
    ...(options.contact === undefined ? {} : { operator_contact: options.contact }),
    accept_terms: options.acceptTerms,
    challenge: { parameters, signature },
    solution,
  })
  const { profile } = options
  if (profile !== undefined)
    await changeProfiles((from) => ({
      ...from,
      current: profile,
      profiles: { ...from.profiles, [profile]: { url, who: made.account.name, api_key: made.key } },
    }))
  print({ json: made, ids: [made.key], text: () => textOf(made) }, options)
}

function textOf({ account, workspace, key, claim, mcp_url: mcp }: RegisteredAgent): string {
  return fields([
    ['Agent', plain(account.name)],
    ['Account', account.id],
    ['Workspace', workspace.slug],
    ['API key', key],
    ['Claim URL', claim.url],
    ['MCP', mcp],
    ['Note', 'The key and the claim URL are shown only once.'],
  ])
}

/** Shows the progress only at a terminal, where a person waits. */
function progress(tries: number): void {
  if (io().stderr.isTTY === true && tries === 0) complain('Solving the challenge…')
}

async function asked<Answer>(url: string, path: string, body?: object): Promise<Answer> {
  const sent =
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
  const response = await http(`${url}${path}`, { ...sent, signal: AbortSignal.timeout(ANSWER_MS) }).catch(
    (cause: unknown) => {
      if (cause instanceof Failure) throw cause
      throw new Failure(`No Postroad server responds at ${url}. Set --url or POSTROAD_URL to its address.`)
    },
  )
  const answer: unknown = await response.json().catch(() => undefined)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer of the contract
  if (response.ok && typeof answer === 'object') return answer as Answer
  throw new Failure(sentenceOf(answer, response.status), response.status === 429 ? EXIT.rateLimited : EXIT.refused)
}

function sentenceOf(answer: unknown, status: number): string {
  const error: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'error') : undefined
  return typeof error === 'string' ? error : `The server returned ${status}.`
}
