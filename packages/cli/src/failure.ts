/** What a shell script acts on; `postroad --help` tells them. */
export const EXIT = { ok: 0, failed: 1, usage: 2, refused: 3, notFound: 4, rateLimited: 5 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** An expected "no" of the command line itself: one sentence and what to do. */
export class Failure extends Error {
  readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode = EXIT.failed) {
    super(message)
    this.exitCode = exitCode
  }
}

type Told = { readonly exitCode: ExitCode; readonly sentence: string; readonly json: Readonly<Record<string, unknown>> }

/** How an error ends the command: its exit code, the sentence for people and the object for programs. */
export async function tellingOf(error: unknown): Promise<Told> {
  if (error instanceof Failure)
    return {
      exitCode: error.exitCode,
      sentence: error.message,
      json: { error: error.message, ...(error.exitCode === EXIT.usage ? { reason: 'usage' } : {}) },
    }
  const { ServiceError } = await import('@postroad/sdk')
  if (error instanceof ServiceError) {
    const { status, reason, requestId, message } = error
    const json = {
      ...error.body,
      error: message,
      ...(reason === undefined ? {} : { reason }),
      status,
      request_id: requestId ?? null,
    }
    return { exitCode: exitCodeOf(status), sentence: sentenceOf(error), json }
  }
  // A bug of ours, so the place where it happened is worth more than a calm sentence.
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return {
    exitCode: EXIT.failed,
    sentence: `something went wrong here, not with your command. ${text}`,
    json: { error: text },
  }
}

function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.refused
  if (status === 404) return EXIT.notFound
  return status === 429 ? EXIT.rateLimited : EXIT.failed
}

type Refused = {
  readonly status: number
  readonly reason: string | undefined
  readonly message: string
  readonly retryAfter: number | undefined
  readonly requestId: string | undefined
}

function sentenceOf({ status, reason, message, retryAfter, requestId }: Refused): string {
  if (reason === 'unreachable') {
    return `${message.replace(/\.(?: .*)?$/, '')}. Start the server with "npm start", or set --url or POSTROAD_URL to its address.`
  }
  if (reason === 'unauthorized') {
    return 'The server does not accept this API key. Set SERVICE_TOKEN to one of its keys (hk_…), or run this where its DATA_DIR is.'
  }
  if (reason === 'not_found')
    return 'There is nothing with this id here. See the list; what is in another project is found with its --project.'
  if (reason === 'overlap_running') return message.replace(/send "end_overlap": true\.$/, 'add --end-overlap.')
  if (status === 429 && retryAfter !== undefined) return `${message} Try again in ${retryAfter} s.`
  return status >= 500 && requestId !== undefined ? `${message} (${requestId})` : message
}
