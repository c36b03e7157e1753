import type { Reason } from '../errors.ts'
import type { Route } from '../route.ts'
import type { Routes } from '../routes/index.ts'
import type { SignInRoutes } from '../sign-in.ts'

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

/** The further refusals of single operations. A test compares each response of the suite with this table. */
const OF_ONE: Partial<Record<OperationId, readonly Reason[]>> = {
  'connectedAgents.update': ['invalid_state'],
  'aiProviders.create': ['name_taken', 'automation_limit_reached'],
  'aiProviders.update': ['name_taken'],
  'aiProviders.remove': ['ai_provider_in_use'],
  'aiAgents.create': ['name_taken', 'automation_limit_reached'],
  'aiAgents.update': ['name_taken'],
  'aiAgents.remove': ['ai_agent_in_use'],
  'triggers.create': ['name_taken', 'automation_limit_reached'],
  'triggers.update': ['name_taken'],
  'aiRuns.cancel': ['ai_run_ended'],
  'aiRuns.retry': ['ai_run_not_ended'],
  'webhooks.create': ['slug_taken', 'dataset_limit_reached'],
  'webhooks.update': ['slug_taken'],
  'webhooks.restoreVersion': ['slug_taken'],
  'webhooks.signSample': ['invalid_state'],
  'webhooks.verifySample': ['invalid_state'],
  'webhooks.rotate': ['overlap_running'],
  'webhooks.rotateVerificationSecret': ['overlap_running'],
  'recordViews.create': ['name_taken'],
  'recordViews.update': ['name_taken'],
  'rules.create': ['name_taken'],
  'rules.update': ['name_taken'],
  'datasets.create': ['name_taken', 'dataset_limit_reached'],
  'dataKeys.create': ['data_key_limit_reached'],
  'portals.create': ['slug_taken', 'portal_limit_reached'],
  'portals.update': ['slug_taken', 'invalid_state'],
  'portals.remove': ['invalid_state'],
  'portalCustomers.create': ['customer_id_taken', 'customer_limit_reached', 'portal_customer_mismatch'],
  'portalCustomers.update': ['customer_id_taken'],
  'portalTokens.create': ['customer_limit_reached', 'portal_customer_mismatch', 'portal_token_limit_reached'],
  'ingestKeys.create': ['name_taken'],
  'ingestKeys.rotateSigningSecret': ['overlap_running'],
  'destinations.create': ['name_taken', 'invalid_url'],
  'destinations.update': ['name_taken', 'invalid_url', 'invalid_state'],
  'destinations.recover': ['replay_limit_reached', 'delivery_allowance_exhausted', 'search_timed_out'],
  'destinations.probe': ['invalid_state'],
  'destinations.rotateSecret': ['overlap_running'],
  'destinationSinks.create': ['name_taken', 'invalid_url'],
  'destinationPreviews.make': ['invalid_url'],
  'deliveries.replay': ['invalid_state', 'delivery_allowance_exhausted'],
  'deliveries.retry': ['invalid_state'],
  'deliveries.cancel': ['invalid_state'],
  'replays.create': ['replay_limit_reached', 'delivery_allowance_exhausted', 'search_timed_out'],
  'replays.pause': ['invalid_state'],
  'replays.resume': ['invalid_state', 'delivery_allowance_exhausted'],
  'replays.cancel': ['invalid_state'],
  'cronTriggers.create': ['name_taken', 'source_limit_reached'],
  'cronTriggers.update': ['name_taken'],
  'sources.create': ['name_taken', 'source_limit_reached'],
  'sources.update': ['name_taken'],
  'wsTriggers.create': ['name_taken', 'source_limit_reached'],
  'wsTriggers.update': ['name_taken'],
  'workflows.create': ['slug_taken', 'workflow_limit_reached'],
  'workflows.replace': ['slug_taken'],
  'workflows.update': ['slug_taken'],
  'workflowInstances.cancel': ['invalid_state'],
  'workflowInstances.retry': ['invalid_state'],
  'forwarders.create': ['name_taken', 'forwarder_limit_reached'],
  'forwarders.update': ['name_taken'],
  'search.events': ['search_timed_out'],
  'search.deliveries': ['search_timed_out'],
  'config.plan': ['invalid_url'],
  'config.apply': ['project_changed', 'invalid_url', 'slug_taken', 'name_taken', 'invalid_state'],
  'projects.create': ['slug_taken'],
  'projects.remove': ['default_project'],
  'workspaces.create': ['slug_taken', 'workspace_limit_reached', 'workspace_creation_closed'],
  'billing.checkout': ['billing_not_configured', 'payment_provider_error', 'invalid_state'],
  'billing.openPortal': ['billing_not_configured', 'payment_provider_error', 'invalid_state'],
  'deletions.restore': ['invalid_state', 'name_taken', 'slug_taken', 'workflow_limit_reached'],
  'network.update': ['own_address_missing'],
  'ssoRequests.cancel': ['invalid_state'],
  'platformSsoRequests.decide': ['invalid_state'],
  'workspaces.close': ['invalid_state'],
  'workspaces.reopen': ['invalid_state'],
  'members.update': ['last_owner', 'invalid_state'],
  'members.remove': ['last_owner', 'invalid_state'],
  'members.leave': ['last_owner'],
  'members.transferOwnership': ['invalid_state'],
  'agentAccounts.claim': ['claim_over', 'workspace_limit_reached'],
  'invites.create': ['member_limit_reached', 'invalid_state'],
  'invites.resend': ['invalid_state'],
  'invites.accept': ['invite_over', 'invite_for_another', 'member_limit_reached', 'invalid_state'],
  'dataExport.create': ['export_running', 'export_limit_reached'],
  'dataExport.download': ['invalid_state', 'export_over', 'range_not_satisfiable'],
  'signIn.signIn': ['sign_in_failed', 'link_over', 'passkey_refused', 'passkeys_unavailable', 'too_many_attempts'],
  'signIn.requestLink': ['too_many_attempts'],
  'signIn.offerPasskey': ['passkeys_unavailable', 'too_many_attempts'],
  'signIn.beginOidc': ['oidc_not_configured', 'identity_provider_error', 'too_many_attempts'],
  'signIn.requestReset': ['too_many_attempts'],
  'signIn.resetPassword': ['link_over', 'weak_password', 'too_many_attempts'],
  'signIn.confirmEmail': ['link_over', 'email_taken', 'too_many_attempts'],
  'signIn.requestEmail': ['recent_sign_in_required', 'email_taken', 'invalid_state', 'too_many_attempts'],
  'signIn.changePassword': ['recent_sign_in_required', 'wrong_password', 'weak_password', 'too_many_attempts'],
  'signIn.preparePasskey': ['recent_sign_in_required', 'passkeys_unavailable', 'passkey_limit_reached'],
  'signIn.addPasskey': ['recent_sign_in_required', 'passkeys_unavailable', 'passkey_refused', 'passkey_limit_reached'],
}

/** Every reason for which a route refuses a request, except failures of the server itself. */
export function reasonsOf(id: OperationId, route: Pick<Route, 'method' | 'refusesIdempotencyKey'>): readonly Reason[] {
  const own = OF_ONE[id] ?? []
  if (id.startsWith('signIn.'))
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
