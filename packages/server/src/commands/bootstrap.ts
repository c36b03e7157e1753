import { boot } from '../boot.ts'
import type { Deps } from '../context.ts'
import { Refusal } from '../domain/refusal.ts'
import { bootstrap, localKey, signInLink } from '../resources/operate/installation/index.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * `bootstrap [--json]`: makes the first owner, workspace, project and endpoint if they are missing, and an admin key in place of the
 * one that the previous call made. Works beside a running server. Gives the exit code.
 */
export function bootstrapCommand(environment: Environment, flags: readonly string[]): Promise<number> {
  return besideTheServer(environment, { makes: true }, async (deps) => {
    const made = await bootstrap(deps)
    return flags.includes('--json')
      ? JSON.stringify(made)
      : [
          `Endpoint   ${made.webhook.public_url}`,
          `API key    ${made.api_key}`,
          `Workspace  ${made.workspace.slug}/${made.project.slug}`,
          `Console    ${made.sign_in_url}`,
          'The key is shown this once and expires in 90 days. The previous one was revoked.',
        ].join('\n')
  })
}

/** `sign-in-link [--json]`: a link that signs the owner in once, within an hour. The previous one ends. */
export function signInLinkCommand(environment: Environment, flags: readonly string[]): Promise<number> {
  return besideTheServer(environment, { makes: false }, async (deps) => {
    const sign_in_url = await signInLink(deps)
    return flags.includes('--json') ? JSON.stringify({ sign_in_url }) : sign_in_url
  })
}

/** `local-key`: what the command line on this machine asks for when it has no SERVICE_TOKEN. The key lasts an hour. */
export function localKeyCommand(environment: Environment): Promise<number> {
  return besideTheServer(environment, { makes: false }, async (deps) =>
    JSON.stringify({ api_key: await localKey(deps) }),
  )
}

// oxlint-disable-next-line max-params -- of which server, what it may make, and what to print
async function besideTheServer(
  environment: Environment,
  { makes }: { readonly makes: boolean },
  work: (deps: Deps) => Promise<string>,
): Promise<number> {
  const { app, storage } = await boot({ LOG_LEVEL: 'warn', ...environment }, { mode: 'join', makes })
  try {
    process.stdout.write(`${await work(app.deps)}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    process.stderr.write(`postroad: ${error.message}\n`)
    return 1
  } finally {
    await app.stop()
    await storage.stop()
  }
}
