import { invokedAs } from './options.ts'

/** The exit codes that shell scripts act on; `postroad --help` lists them. */
export const EXIT = { ok: 0, failed: 1, usage: 2, refused: 3, notFound: 4, rateLimited: 5, changes: 6 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** An expected refusal of the command line itself: one sentence, with the remedy. */
export class Failure extends Error {
  readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode = EXIT.failed) {
    super(message)
    this.exitCode = exitCode
  }
}

/** The server did not answer, or was busy. A command that follows a stream waits for it. */
export class Unavailable extends Failure {}

/** The proxy of the environment did not carry a request. */
export class ProxyFailed extends Unavailable {}

/** A command that has done its work and printed everything, but ends with an exit code other than 0. */
export class Ended extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode) {
    super('')
    this.exitCode = exitCode
  }
}

/** The error for a server that did not answer. */
export async function unreachable(url: string, cause: unknown): Promise<Error> {
  if (cause instanceof Failure) return cause
  const { ServiceError } = await import('@postroad/sdk')
  return new ServiceError(`${new URL(url).origin} cannot be reached.`, { status: 0, reason: 'unreachable' }, { cause })
}

type Report = {
  readonly exitCode: ExitCode
  readonly sentence: string
  readonly json: Readonly<Record<string, unknown>>
}

/** The end of a command that failed: its exit code, the sentence for people and the object for programs. */
export async function reportOf(error: unknown): Promise<Report> {
  if (error instanceof Failure)
    return {
      exitCode: error.exitCode,
      sentence: error.message,
      json: { error: error.message, ...reasonMember(error) },
    }
  const { ServiceError } = await import('@postroad/sdk')
  if (error instanceof ServiceError) {
    // The client reports an ended connection of this command line as a server that did not answer.
    const { cause } = error
    if (cause instanceof ProxyFailed || (cause instanceof Failure && !(cause instanceof Unavailable)))
      return reportOf(cause)
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
  // A bug of Postroad: the stack helps more than a calm sentence.
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return {
    exitCode: EXIT.failed,
    sentence: `this is a bug in Postroad, not a mistake in your command. ${text}`,
    json: { error: text },
  }
}

const reasonMember = (error: Failure): { readonly reason?: string } => {
  if (error instanceof ProxyFailed) return { reason: 'unreachable' }
  return error.exitCode === EXIT.usage ? { reason: 'usage' } : {}
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
  readonly body: Readonly<Record<string, unknown>>
}

function sentenceOf({ status, reason, message, retryAfter, requestId, body }: Refused): string {
  if (reason === 'unreachable') {
    return `${message.replace(/\.(?: .*)?$/, '')}. Start the server with "${invokedAs()} start", or set --url or POSTROAD_URL to its address.`
  }
  if (reason === 'unauthorized') {
    return 'The server does not accept this API key. Set SERVICE_TOKEN to one of its keys (hk_…), run "postroad login", or run this command on the machine with its DATA_DIR.'
  }
  const ofAgent = sentenceOfAgent(reason, body)
  if (ofAgent !== undefined) return ofAgent
  if (reason === 'not_found')
    return 'Nothing with this id exists here. Check the id in the list. For another project, add its --project.'
  if (reason === 'overlap_running') return message.replace(/send "end_overlap": true\.$/, 'add --end-overlap.')
  if (status === 429 && retryAfter !== undefined) return `${message} Try again in ${retryAfter} s.`
  return status >= 500 && requestId !== undefined ? `${message} (${requestId})` : message
}

function sentenceOfAgent(reason: string | undefined, body: Refused['body']): string | undefined {
  const { manage_url: page } = body
  if (reason === 'agent_scope_insufficient' && typeof page === 'string')
    return `This agent does not have the scope that this call needs. Widen its access at ${page}, then repeat the command.`
  // The account of an agent needs a person, not a sign-in.
  if (reason === 'agent_not_permitted' && body['claim_required'] !== true)
    return 'Only a person can do this, not an API key or a connected agent. Sign in with a link: postroad login --key.'
  return undefined
}
