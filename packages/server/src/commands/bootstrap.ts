import { boot } from '../boot.ts'
import { bootstrap } from '../resources/installation/index.ts'

/**
 * `bootstrap [--json]`: makes the first owner, workspace, project, endpoint and admin key, or gives those there are.
 * Works beside a running server. Gives the exit code.
 */
export async function bootstrapCommand(environment: Readonly<Record<string, string | undefined>>, flags: readonly string[]): Promise<number> {
  const { app, storage } = await boot({ LOG_LEVEL: 'warn', ...environment }, { mode: 'join' })
  try {
    const made = await bootstrap(app.deps)
    const { first_run: _first, ...shown } = made
    const text = flags.includes('--json')
      ? JSON.stringify(shown)
      : [`Endpoint   ${made.webhook.public_url}`, `API key    ${made.api_key}`, `Workspace  ${made.workspace.slug}/${made.project.slug}`, `Console    ${made.sign_in_url}`].join('\n')
    process.stdout.write(`${text}\n`)
    return 0
  } finally {
    await app.stop()
    await storage.stop()
  }
}
