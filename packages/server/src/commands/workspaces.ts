import { parseArgs } from 'node:util'
import { LIMITS } from '@postroad/contract'
import { Refusal } from '../domain/refusal.ts'
import { clearNetworkOf } from '../resources/operate/platform-workspaces/index.ts'
import {
  listWorkspaceStatuses,
  reinstateWorkspace,
  suspendWorkspace,
  type WorkspaceStatus,
} from '../resources/workspace/workspaces/index.ts'
import { besideTheServer } from './beside-the-server.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** `workspaces [--json]`: lists every workspace and whether it is suspended. */
export function workspacesCommand(environment: Environment, flags: readonly string[]): Promise<number> {
  return asked(flags, { slugs: 0 }, (options) =>
    besideTheServer(environment, {
      makes: false,
      work: async ({ app }) => {
        const workspaces = await listWorkspaceStatuses(app.deps)
        say(options.json ? JSON.stringify({ workspaces }) : workspaces.map(lineOf).join('\n'))
      },
    }),
  )
}

/** `suspend <workspace slug> --reason <text> [--json]`. Takes effect on every running server within a second. */
export function suspendCommand(environment: Environment, flags: readonly string[]): Promise<number> {
  return asked(flags, { slugs: 1, reason: true }, ({ slug, reason, json }) =>
    besideTheServer(environment, {
      makes: false,
      work: async ({ app }) => {
        const workspace = await suspendWorkspace(app.deps, { slug, reason })
        say(
          json
            ? JSON.stringify({ workspace })
            : `${lineOf(workspace)}\nThe server accepts no events and sends no deliveries for it. Its data stays. Run "reinstate" to continue where it stopped.`,
        )
      },
    }),
  )
}

/** `reinstate <workspace slug> [--json]`. The paused deliveries are sent. */
export function reinstateCommand(environment: Environment, flags: readonly string[]): Promise<number> {
  return asked(flags, { slugs: 1 }, ({ slug, json }) =>
    besideTheServer(environment, {
      makes: false,
      work: async ({ app }) => {
        const workspace = await reinstateWorkspace(app.deps, { slug })
        say(json ? JSON.stringify({ workspace }) : `${lineOf(workspace)}\nThe server now sends its paused deliveries.`)
      },
    }),
  )
}

/** `clear-network <workspace slug> [--json]`: for a workspace whose list of addresses locks everyone out. */
export function clearNetworkCommand(environment: Environment, flags: readonly string[]): Promise<number> {
  return asked(flags, { slugs: 1 }, ({ slug, json }) =>
    besideTheServer(environment, {
      makes: false,
      work: async ({ app }) => {
        await clearNetworkOf(app.deps, { slug })
        say(json ? JSON.stringify({ ok: true }) : `${slug}  open to every address`)
      },
    }),
  )
}

const EXIT = { ok: 0, failed: 1, usage: 2, notFound: 4 } as const

type Options = { readonly slug: string; readonly reason: string; readonly json: boolean }

type Wants = { readonly slugs: 0 | 1; readonly reason?: true }

function parse(flags: readonly string[], wants: Wants): Options {
  const { values, positionals } = parseArgs({
    args: [...flags],
    options: {
      json: { type: 'boolean', default: false },
      ...(wants.reason === true ? { reason: { type: 'string' as const } } : {}),
    },
    allowPositionals: true,
  })
  const given: { readonly reason?: unknown } = values
  const reason = typeof given.reason === 'string' ? given.reason.trim() : ''
  const { suspensionReasonCharsMax: charsMax } = LIMITS
  if (positionals.length !== wants.slugs)
    throw new Error(wants.slugs === 0 ? 'This command does not take a workspace.' : 'Name one workspace by its slug.')
  if (wants.reason === true && reason === '')
    throw new Error('Give the reason with --reason "…"; the audit log stores it.')
  if (reason.length > charsMax) throw new Error(`A reason has at most ${charsMax} characters.`)
  return { slug: positionals[0] ?? '', reason, json: values.json }
}

// oxlint-disable-next-line max-params -- the flags, the expected options, and the command
async function asked(
  flags: readonly string[],
  wants: Wants,
  run: (options: Options) => Promise<void>,
): Promise<number> {
  const complain = (error: string, reason: string): void =>
    void process.stderr.write(
      flags.includes('--json') ? `${JSON.stringify({ error, reason })}\n` : `postroad: ${error}\n`,
    )
  let options: Options
  try {
    options = parse(flags, wants)
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error), 'usage')
    return EXIT.usage
  }
  try {
    await run(options)
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    complain(error.message, error.reason)
    return error.status === 404 ? EXIT.notFound : EXIT.failed
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function lineOf({ slug, plan, suspended_at, suspended_reason }: WorkspaceStatus): string {
  const state = suspended_at === null ? 'active' : `suspended since ${suspended_at}: ${suspended_reason ?? ''}`
  return `${slug}  ${plan}  ${state}`
}
