import { parseArgs } from 'node:util'
import { LIMITS } from '@postroad/contract'
import { boot } from '../boot.ts'
import type { Deps } from '../context.ts'
import { Refusal } from '../domain/refusal.ts'
import {
  listStandings,
  reinstateWorkspace,
  suspendWorkspace,
  type Standing,
} from '../resources/workspace/workspaces/index.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** `workspaces [--json]`: every workspace and whether it is suspended. */
export function workspacesCommand(environment: Environment, flags: readonly string[]): Promise<number> {
  return asked(flags, { slugs: 0 }, (options) =>
    besideTheServer(environment, async (deps) => {
      const workspaces = await listStandings(deps)
      say(options.json ? JSON.stringify({ workspaces }) : workspaces.map(lineOf).join('\n'))
    }),
  )
}

/** `suspend <workspace slug> --reason <text> [--json]`. Takes effect on every running server within a second. */
export function suspendCommand(environment: Environment, flags: readonly string[]): Promise<number> {
  return asked(flags, { slugs: 1, reason: true }, ({ slug, reason, json }) =>
    besideTheServer(environment, async (deps) => {
      const workspace = await suspendWorkspace(deps, { slug, reason })
      say(
        json
          ? JSON.stringify({ workspace })
          : `${lineOf(workspace)}\nNothing is accepted for it and nothing is sent. Its data stays; "reinstate" lets it go on where it stopped.`,
      )
    }),
  )
}

/** `reinstate <workspace slug> [--json]`. What was paused is sent. */
export function reinstateCommand(environment: Environment, flags: readonly string[]): Promise<number> {
  return asked(flags, { slugs: 1 }, ({ slug, json }) =>
    besideTheServer(environment, async (deps) => {
      const workspace = await reinstateWorkspace(deps, { slug })
      say(json ? JSON.stringify({ workspace }) : `${lineOf(workspace)}\nWhat waited is being sent.`)
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
    throw new Error(wants.slugs === 0 ? 'This takes no workspace.' : 'Name one workspace by its slug.')
  if (wants.reason === true && reason === '')
    throw new Error('Give the reason with --reason "…"; the audit log stores it.')
  if (reason.length > charsMax) throw new Error(`A reason has at most ${charsMax} characters.`)
  return { slug: positionals[0] ?? '', reason, json: values.json }
}

// oxlint-disable-next-line max-params -- what was written, what is wanted, and what to do with it
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

/** Not `deliver`: this process tells the senders what changed and is none itself. */
async function besideTheServer(environment: Environment, work: (deps: Deps) => Promise<void>): Promise<void> {
  const { app, storage } = await boot(
    { LOG_LEVEL: 'warn', ...environment, ROLES: 'web' },
    { mode: 'join', makes: false },
  )
  try {
    await work(app.deps)
  } finally {
    await app.stop()
    await storage.stop()
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function lineOf({ slug, plan, suspended_at, suspended_reason }: Standing): string {
  const state = suspended_at === null ? 'active' : `suspended since ${suspended_at}: ${suspended_reason ?? ''}`
  return `${slug}  ${plan}  ${state}`
}
