import type { Reason } from '../errors.ts'
import type { Route } from '../route.ts'
import type { Routes } from '../routes/index.ts'
import type { SignInRoutes } from '../sign-in.ts'
import { ROOMS } from './rooms.ts'

/** `webhooks.create`, or `signIn.signOut` for a sign-in route. */
export type OperationId =
  | { [Room in keyof Routes]: `${Room}.${keyof Routes[Room] & string}` }[keyof Routes]
  | `signIn.${keyof SignInRoutes}`

/** The refusals that every route of the admin API can give. */
const OF_EVERY_ROUTE = [
  'invalid_request',
  'unsupported_version',
  'unauthorized',
  'api_key_expired',
  'api_key_revoked',
  'access_token_invalid',
  'agent_revoked',
  'csrf_header_missing',
  'ip_not_allowed',
  'project_out_of_scope',
  'agent_not_permitted',
  'insufficient_role',
  'agent_scope_insufficient',
  'no_workspace',
  'not_found',
  'rate_limited',
  'work_limited',
] as const satisfies readonly Reason[]

const OF_EVERY_CHANGE = [
  'payload_too_large',
  'workspace_suspended',
  'workspace_closed',
] as const satisfies readonly Reason[]

const OF_EVERY_POST = [
  'invalid_idempotency_key',
  'idempotency_key_reused',
  'idempotency_in_progress',
  'idempotency_keys_exhausted',
] as const satisfies readonly Reason[]

/** The same for a sign-in route, which takes a session or no credential at all. */
const OF_EVERY_SIGN_IN = [
  'invalid_request',
  'unsupported_version',
  'unauthorized',
  'api_key_expired',
  'api_key_revoked',
  'csrf_header_missing',
  'project_out_of_scope',
  'not_found',
  'payload_too_large',
  'rate_limited',
] as const satisfies readonly Reason[]

/** The further refusals of single sign-in routes. Rooms list theirs in their `about`; a test compares each response of the suite with both. */
const OF_SIGN_IN: { readonly [Name in keyof SignInRoutes]?: readonly Reason[] } = {
  signIn: ['sign_in_failed', 'link_over', 'passkey_refused', 'passkeys_unavailable', 'too_many_attempts'],
  requestLink: ['too_many_attempts'],
  offerPasskey: ['passkeys_unavailable', 'too_many_attempts'],
  beginOidc: ['oidc_not_configured', 'identity_provider_error', 'too_many_attempts'],
  requestReset: ['too_many_attempts'],
  resetPassword: ['link_over', 'weak_password', 'too_many_attempts'],
  confirmEmail: ['link_over', 'email_taken', 'too_many_attempts'],
  requestEmail: ['recent_sign_in_required', 'email_taken', 'invalid_state', 'too_many_attempts'],
  changePassword: ['recent_sign_in_required', 'wrong_password', 'weak_password', 'too_many_attempts'],
  preparePasskey: ['recent_sign_in_required', 'passkeys_unavailable', 'passkey_limit_reached'],
  addPasskey: ['recent_sign_in_required', 'passkeys_unavailable', 'passkey_refused', 'passkey_limit_reached'],
}

const OF_ONE: Readonly<Record<string, { readonly refusals?: Readonly<Record<string, readonly Reason[]>> }>> = {
  ...ROOMS,
  signIn: { refusals: OF_SIGN_IN },
}

/** Every reason for which a route refuses a request, except failures of the server itself. */
export function reasonsOf(id: OperationId, route: Pick<Route, 'method' | 'refusesIdempotencyKey'>): readonly Reason[] {
  const [room = '', verb = ''] = id.split('.')
  const own = OF_ONE[room]?.refusals?.[verb] ?? []
  if (room === 'signIn')
    return [...OF_EVERY_SIGN_IN, ...(route.method === 'POST' ? (['invalid_idempotency_key'] as const) : []), ...own]
  const common = route.method === 'GET' ? OF_EVERY_ROUTE : [...OF_EVERY_ROUTE, ...OF_EVERY_CHANGE]
  if (route.method !== 'POST') return [...common, ...own]
  if (route.refusesIdempotencyKey === true) return [...common, 'idempotency_key_refused', ...own]
  return [...common, ...OF_EVERY_POST, ...own]
}

/** The refusals of ingest, in the order of its checks. */
export const INGEST_REASONS = [
  'endpoint_not_found',
  'ingest_key_not_found',
  'endpoint_disabled',
  'ip_not_allowed',
  'workspace_suspended',
  'workspace_closed',
  'burst_limited',
  'work_limited',
  'cors_origin_not_allowed',
  'scope_missing',
  'dataset_not_allowed',
  'payload_too_large',
  'records_too_large',
  'unsupported_encoding',
  'missing_header',
  'bad_signature',
  'stale_timestamp',
  'empty_body',
  'invalid_body',
  'handshake_failed',
  'invalid_challenge',
  'invalid_dataset',
  'loop_detected',
  'invalid_idempotency_key',
  'idempotency_key_reused',
  'idempotency_in_progress',
  'quota_exceeded',
  'dataset_limit_reached',
  'provider_unavailable',
  'storage_unavailable',
] as const satisfies readonly Reason[]

/** The refusals of the streams. */
export const STREAM_REASONS = {
  ingestKey: [
    'invalid_request',
    'stream_key_required',
    'scope_missing',
    'dataset_not_allowed',
    'ip_not_allowed',
    'workspace_suspended',
    'workspace_closed',
    'work_limited',
    'stream_limit_reached',
  ],
  admin: [...OF_EVERY_ROUTE, 'workspace_suspended', 'workspace_closed', 'origin_not_allowed', 'stream_limit_reached'],
} as const satisfies Record<string, readonly Reason[]>

/** The refusals of agent self-registration. */
export const AGENT_REASONS = {
  challenge: [
    'rate_limited',
    'work_limited',
    'daily_cap_reached',
    'source_daily_limit',
    'agent_registration_disabled',
    'agent_registration_unavailable',
  ],
  register: [
    'invalid_body',
    'invalid_agent_name',
    'invalid_operator_contact',
    'terms_not_accepted',
    'proof_of_work_required',
    'invalid_challenge',
    'challenge_expired',
    'invalid_proof_of_work',
    'invalid_idempotency_key',
    'already_registered',
    'registration_in_progress',
    'challenge_spent',
    'body_too_large',
    'rate_limited',
    'work_limited',
    'daily_cap_reached',
    'source_daily_limit',
    'agent_registration_disabled',
    'agent_registration_unavailable',
    'registration_incomplete',
    'identity_provider_error',
  ],
} as const satisfies Record<string, readonly Reason[]>

export const DATA_REASONS = [
  'invalid_request',
  'data_key_required',
  'data_key_expired',
  'rate_limited',
  'work_limited',
  'ip_not_allowed',
  'workspace_suspended',
  'workspace_closed',
  'dataset_not_allowed',
  'not_found',
  'not_acceptable',
] as const satisfies readonly Reason[]
