import type { Deps } from '../context.ts'
import { Refusal } from '../domain/refusal.ts'
import { bootstrap, localKey, signInLink } from '../resources/operate/installation/index.ts'
import { besideTheServer } from './beside-the-server.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * `bootstrap [--json]`: creates the first owner, workspace, project and endpoint if they are missing, and an admin key that
 * replaces the key of the previous call. Works beside a running server. Returns the exit code.
 */
export function bootstrapCommand(environment: Environment, flags: readonly string[]): Promise<number> {
  const textOf = async (deps: Deps): Promise<string> => {
    const made = await bootstrap(deps)
    return flags.includes('--json')
      ? JSON.stringify(made)
      : [
          `Endpoint   ${made.webhook.public_url}`,
          `API key    ${made.api_key}`,
          `Workspace  ${made.workspace.slug}/${made.project.slug}`,
          `Console    ${made.sign_in_url}`,
          'The key is shown only once and expires in 90 days. The previous key was revoked.',
        ].join('\n')
  }
  return print(environment, { makes: true, textOf })
}

/** `sign-in-link [--json]`: prints a link that signs the owner in once, within an hour. It invalidates the previous link. */
export function signInLinkCommand(environment: Environment, flags: readonly string[]): Promise<number> {
  const textOf = async (deps: Deps): Promise<string> => {
    const sign_in_url = await signInLink(deps)
    return flags.includes('--json') ? JSON.stringify({ sign_in_url }) : sign_in_url
  }
  return print(environment, { makes: false, textOf })
}

/** `local-key`: prints the key that the command line on this machine uses when it has no SERVICE_TOKEN. The key lasts an hour. */
export function localKeyCommand(environment: Environment): Promise<number> {
  return print(environment, {
    makes: false,
    textOf: async (deps) => JSON.stringify({ api_key: await localKey(deps) }),
  })
}

async function print(
  environment: Environment,
  { makes, textOf }: { readonly makes: boolean; readonly textOf: (deps: Deps) => Promise<string> },
): Promise<number> {
  try {
    const text = await besideTheServer(environment, { makes, work: ({ app }) => textOf(app.deps) })
    process.stdout.write(`${text}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    process.stderr.write(`postroad: ${error.message}\n`)
    return 1
  }
}
