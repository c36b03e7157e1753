import { REASONS, type Reason } from '@postroad/contract'
import type { Json } from './schemas.ts'

const ERROR = { $ref: '#/components/schemas/Error' }

/** Sets of reasons that many operations share, by the name of their response in the document. */
const SHARED: Readonly<Record<string, readonly Reason[]>> = {
  InvalidRequest: ['invalid_request', 'unsupported_version'],
  InvalidPost: ['invalid_request', 'unsupported_version', 'invalid_idempotency_key'],
  Unauthorized: ['unauthorized', 'api_key_expired', 'api_key_revoked', 'access_token_invalid', 'agent_revoked'],
  UnauthorizedSignIn: ['unauthorized', 'api_key_expired', 'api_key_revoked'],
  Forbidden: [
    'csrf_header_missing',
    'ip_not_allowed',
    'project_out_of_scope',
    'agent_not_permitted',
    'insufficient_role',
    'agent_scope_insufficient',
    'no_workspace',
  ],
  ForbiddenChange: [
    'csrf_header_missing',
    'ip_not_allowed',
    'project_out_of_scope',
    'agent_not_permitted',
    'insufficient_role',
    'agent_scope_insufficient',
    'no_workspace',
    'workspace_suspended',
    'workspace_closed',
  ],
  ForbiddenSignIn: ['csrf_header_missing', 'project_out_of_scope'],
  NotFound: ['not_found'],
  KeyInProgress: ['idempotency_in_progress'],
  PayloadTooLarge: ['payload_too_large'],
  KeyReused: ['idempotency_key_reused'],
  TooManyRequests: ['rate_limited', 'work_limited'],
  TooManyPosts: ['rate_limited', 'work_limited', 'idempotency_keys_exhausted'],
}
const NAME_OF = new Map(Object.entries(SHARED).map(([name, reasons]) => [keyOf(reasons), name]))

export const SHARED_ANSWERS: Json = {
  ...Object.fromEntries(Object.entries(SHARED).map(([name, reasons]) => [name, answer(reasons)])),
  Failed: {
    description:
      'The server failed, or is too busy: 500 `internal`, 503 `overloaded`. You can safely repeat the request after Retry-After, with the same Idempotency-Key if it had one.',
    content: { 'application/json': { schema: ERROR, examples: examplesOf(['internal', 'overloaded']) } },
  },
}

/** The refusals of an operation as its responses, one for each status, with an example for each reason. */
export function refusedAnswers(reasons: readonly Reason[]): Json {
  const byStatus = Map.groupBy(reasons, (reason) => REASONS[reason].status)
  const answers = [...byStatus].toSorted(([a], [b]) => a - b).map(([status, own]) => [status, answerOf(own)] as const)
  return { ...Object.fromEntries(answers), default: { $ref: '#/components/responses/Failed' } }
}

function answerOf(reasons: readonly Reason[]): Json {
  const name = NAME_OF.get(keyOf(reasons))
  return name === undefined ? answer(reasons) : { $ref: `#/components/responses/${name}` }
}

function answer(reasons: readonly Reason[]): Json {
  return {
    description: `Refused: ${reasons.map((reason) => `\`${reason}\``).join(', ')}.`,
    content: { 'application/json': { schema: ERROR, examples: examplesOf(reasons) } },
  }
}

function examplesOf(reasons: readonly Reason[]): Json {
  return Object.fromEntries(
    reasons.map((reason) => [reason, { value: { error: REASONS[reason].text, reason } }] as const),
  )
}

function keyOf(reasons: readonly Reason[]): string {
  return reasons.toSorted().join()
}
