import { boot } from '../boot.ts'
import { bootstrap, type Bootstrapped } from '../resources/installation/index.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Runs the server until SIGINT or SIGTERM; a second signal ends it at once. Gives the exit code. */
export async function serveCommand(environment: Environment): Promise<number> {
  const ended = Promise.withResolvers<void>()
  const signalled = once(() => ended.resolve())
  process.on('SIGINT', signalled)
  process.on('SIGTERM', signalled)

  const { app, storage, log } = await boot(environment, { mode: 'own' })
  try {
    const { baseUrl } = await app.start()
    process.stdout.write(welcome(await bootstrap(app.deps)))
    log.info('server.started', { url: baseUrl, pid: process.pid })
    await ended.promise
    log.info('server.stopping')
  } finally {
    await app.stop()
    await storage.stop()
  }
  return 0
}

function once(first: () => void): () => void {
  let signals = 0
  return () => {
    signals += 1
    if (signals === 1) first()
    else process.exit(1)
  }
}

/** The three lines of a first run, and of every later one: where to look, where to send, and how. */
function welcome({ webhook, sign_in_url }: Bootstrapped): string {
  const url = webhook.public_url
  return [
    '',
    `  Console    ${sign_in_url}`,
    `  Endpoint   ${url}`,
    `  Try it     curl -H 'Content-Type: application/json' -d '{"hello":"world"}' ${url}`,
    '',
    '',
  ].join('\n')
}
