import { z } from 'zod'
import { SCOPES } from './route.ts'

/**
 * Every expected "no", once: its status and the sentence a caller reads when nobody knows a better one.
 * A reason that is not here does not compile; a reason that no test produces fails the suite.
 */
export const REASONS = {
  // Ingest, in the order of its ladder.
  endpoint_not_found: { status: 404, text: 'No endpoint answers at this address. Check the URL; it may have been rotated.' },
  ingest_key_not_found: { status: 404, text: 'This ingest key is not known. Create one under Ingest keys and use it in the URL.' },
  endpoint_disabled: { status: 503, text: 'This endpoint is switched off. Enable it to accept requests again.' },
  ip_not_allowed: { status: 403, text: 'This address may not send here. Add it to the IP allowlist of the endpoint or of the ingest key.' },
  workspace_suspended: { status: 403, text: 'This workspace is suspended. Ask the operator to reinstate it.' },
  burst_limited: { status: 429, text: 'Too many requests at once with this URL or key. Send it again after retry_after seconds.' },
  cors_origin_not_allowed: { status: 403, text: 'Pages of this origin may not post here. Add the origin to the endpoint.' },
  handshake_failed: { status: 403, text: 'The verify token is not that of this endpoint. Set the same one at the sender and at the endpoint.' },
  invalid_challenge: { status: 400, text: 'The challenge must have 1 to 2,048 characters. Send one of that length.' },
  scope_missing: { status: 403, text: 'This ingest key may not do this. Add the scope to the key, or use another key.' },
  dataset_not_allowed: { status: 403, text: 'This ingest key may not use this dataset. Add the dataset to the key, or use another key.' },
  payload_too_large: { status: 413, text: 'The body is larger than this endpoint accepts. Send less at once.' },
  unsupported_encoding: { status: 415, text: 'This Content-Encoding is not supported. Send the body as it is, or with one of gzip, deflate and br.' },
  missing_header: { status: 401, text: 'The signature header is missing. Switch signing on at the sender.' },
  bad_signature: { status: 401, text: 'The signature does not match the body and the secret of this endpoint. Compare the secrets at both ends.' },
  stale_timestamp: { status: 401, text: 'The signature is right but its timestamp is outside the tolerance. Check the clock of the sender.' },
  empty_body: { status: 400, text: 'The body is empty. Send JSON, a urlencoded form or multipart/form-data.' },
  invalid_body: { status: 400, text: 'The body could not be read. Send what its Content-Type says, whole.' },
  loop_detected: { status: 409, text: 'This event has been delivered in a circle too often. Break the loop between your destinations.' },
  invalid_idempotency_key: { status: 400, text: 'The Idempotency-Key is not valid. Send one value of 1 to 255 printable ASCII characters without spaces.' },
  idempotency_key_reused: {
    status: 422,
    text: 'This Idempotency-Key was used for another path or body in the last 7 days. Send a repeat exactly as the first request, and a new event with a new key.',
  },
  idempotency_in_progress: { status: 409, text: 'A request with this idempotency key is still being stored. Send it again after retry_after seconds to get its answer.' },
  quota_exceeded: {
    status: 429,
    text: "The plan's events of this month are used up. Send it again when the next month begins, after retry_after seconds, or move to a larger plan at upgrade_url.",
  },
  invalid_dataset: {
    status: 400,
    text: 'The dataset name is not valid. It starts with a letter, then up to 62 letters, digits or underscores.',
  },
  dataset_limit_reached: { status: 400, text: 'This project has as many datasets as it may have. Use an existing one.' },
  storage_unavailable: { status: 503, text: 'The event could not be stored just now. Send it again in a moment.' },

  // Admin API.
  unauthorized: { status: 401, text: 'Sign in, or send an admin API key as "Authorization: Bearer hk_…".' },
  api_key_expired: { status: 401, text: 'This API key has expired. Create a new one in the console.' },
  api_key_revoked: { status: 401, text: 'This API key was revoked. Create a new one in the console.' },
  rate_limited: { status: 429, text: 'Too many requests at once with this credential. Go on after retry_after seconds, and more slowly.' },
  agent_not_permitted: { status: 403, text: 'No API key and no connected agent may do this. Do it in the console.' },
  agent_scope_insufficient: { status: 403, text: 'This agent was not granted what this needs. Widen the grant at manage_url; it counts from the next request on.' },
  idempotency_key_refused: { status: 400, text: 'This route takes no Idempotency-Key, because its answer is not kept to be given again. Send the request without it.' },
  idempotency_keys_exhausted: {
    status: 429,
    text: 'As many idempotency keys were used as may be in 24 hours. Send the request without one, or come back after retry_after seconds.',
  },
  csrf_header_missing: { status: 403, text: 'A change made with the session cookie needs the header X-Requested-With.' },
  insufficient_role: { status: 403, text: 'Your role does not allow this. Ask an admin of the workspace.' },
  project_out_of_scope: {
    status: 403,
    text: 'This key is for one project, and this is outside it.',
  },
  not_found: { status: 404, text: 'There is nothing here with this id. Check the id, and that it belongs to this workspace and project.' },
  route_not_found: { status: 404, text: 'There is no such route. The list of routes is at /openapi.json.' },
  method_not_allowed: { status: 405, text: 'This address does not answer to this method. Use one that the Allow header names.' },
  unsupported_version: { status: 400, text: 'This Service-Version is not served here. Send one of supported_versions, or leave the header out.' },
  invalid_request: { status: 400, text: 'The request is not valid.' },
  slug_taken: { status: 409, text: 'This slug is already in use in this project. Choose another.' },
  name_taken: { status: 409, text: 'This name is already in use in this project. Choose another.' },
  default_project: { status: 409, text: 'The Default project cannot be deleted. Delete what is in it instead.' },
  invalid_state: { status: 409, text: 'This cannot be done in the state it is in. Read it again and choose what that state allows.' },
  search_timed_out: { status: 503, text: 'The search took too long and was given up. Narrow it by from and to, by destination or by state, or try again in a moment.' },
  delivery_allowance_exhausted: {
    status: 429,
    text: "The plan's deliveries of this month are used up. Replay it when the next month begins, after retry_after seconds, or move to a larger plan at upgrade_url.",
  },
  replay_limit_reached: { status: 409, text: 'This project has as many replays running or paused as it may have. Wait for one to end, or cancel one.' },
  member_limit_reached: { status: 403, text: 'The plan allows no more members. Remove one, or move to a larger plan at upgrade_url.' },
  invite_over: { status: 404, text: 'This invite was used already, revoked or is over. Ask for a new one.' },
  invite_for_another: {
    status: 403,
    text: 'This invite is for another email address. Sign in to the account that has the address it was sent to, or confirm that address for yours.',
  },
  last_owner: { status: 409, text: 'A workspace keeps an owner. Transfer the ownership to another member first.' },
  workspace_closed: { status: 403, text: 'This workspace is closed. An owner can reopen it until its data is deleted.' },
  workspace_limit_reached: { status: 403, text: 'You own as many workspaces as one person may. Close one, or transfer one to somebody else.' },
  export_running: { status: 409, text: 'An export of this workspace is being written already. Wait for it, or delete it.' },
  export_limit_reached: { status: 409, text: 'This workspace keeps as many exports as it may. Delete one, or wait until one expires.' },
  export_over: { status: 410, text: 'This export has expired and its file is gone. Ask for a new one.' },
  range_not_satisfiable: { status: 416, text: 'The file ends before this range begins. Content-Range says how long it is; download it from the begin.' },
  invalid_url: { status: 400, text: 'The URL cannot be used as a destination.' },

  // Signing in, and one's own account.
  sign_in_failed: { status: 401, text: 'The email address or the password is wrong. Try again, or ask for a link by mail.' },
  link_over: { status: 401, text: 'This link was used already or is over. Ask for a new one.' },
  passkey_refused: { status: 401, text: 'This passkey was not accepted here. Try again, or sign in another way.' },
  no_account: { status: 403, text: 'Nobody here has this account yet. Ask an admin to invite you, then sign in again.' },
  no_workspace: { status: 403, text: 'You are in no workspace. Accept an invite, or ask an admin for one.' },
  email_domain_not_allowed: { status: 403, text: 'Accounts of this email domain may not sign in here. Use your work account.' },
  wrong_password: { status: 403, text: 'The current password is wrong. Try again, or sign out and ask for a reset by mail.' },
  weak_password: { status: 400, text: 'The password is too easy to guess. Use at least 12 characters; three or four unrelated words are good.' },
  email_taken: { status: 409, text: 'Another account has this email address. Sign in to that one instead.' },
  passkeys_unavailable: { status: 409, text: 'Passkeys need a host name. Set PUBLIC_URL to a name instead of an IP address.' },
  passkey_limit_reached: { status: 409, text: 'This account has as many passkeys as it may have. Remove one first.' },
  too_many_attempts: { status: 429, text: 'Too many attempts. Wait for retry_after seconds, then try again.' },
  oidc_not_configured: { status: 404, text: 'No identity provider is set up here. Sign in with an email address and password, or by a link.' },
  oidc_state_lost: { status: 400, text: 'This sign-in was begun in another browser, or more than 10 minutes ago. Begin again.' },
  identity_provider_error: { status: 502, text: 'The identity provider did not answer as it should. Try again in a moment; the log of the server says why.' },

  // Streams.
  stream_key_required: { status: 401, text: 'This stream needs an ingest key that is in use. Send it as "Authorization: Bearer ik_live_…" or as ?key=ik_live_….' },
  stream_limit_reached: { status: 429, text: 'This workspace has as many streams open as its plan allows. Close one, or come back after retry_after seconds.' },
  origin_not_allowed: { status: 403, text: 'A page of another origin may not open this with your session. Use an admin API key instead.' },

  // Any surface.
  malformed_request: { status: 400, text: 'This is not a valid HTTP request. Send HTTP/1.1.' },
  request_timeout: { status: 408, text: 'The request took too long to arrive. Send it again, whole, within 30 seconds.' },
  headers_too_large: { status: 431, text: 'The URL and the headers are larger than 64 KiB, or there are more than 1,000 headers. Send less in them.' },
  overloaded: { status: 503, text: 'The service is too busy just now. Try again in a moment.' },
  internal: { status: 500, text: 'Something went wrong here, not with your request. The request id finds it in the log.' },
} as const satisfies Record<string, { status: number; text: string }>

export type Reason = keyof typeof REASONS

/** The error body of every surface (contract part 2). Members beyond `error` stand only where they apply. */
export const ErrorBody = z.object({
  error: z.string().describe('One sentence: what was wrong and what to do.'),
  reason: z.string().optional().describe('The machine-readable reason.'),
  code: z.enum(['agent_scope_insufficient', 'insufficient_role', 'agent_not_permitted', 'member_limit_reached']).optional(),
  retry_after: z.int().optional().describe('Seconds to wait.'),
  upgrade_url: z.string().optional().describe('When the events or the deliveries of the month are used up, or the plan allows no more members: where to change the plan.'),
  max_members: z.int().optional().describe('With member_limit_reached: what the plan allows.'),
  members: z.int().optional().describe('With member_limit_reached: how many there are.'),
  scheme: z.string().optional().describe('On a signature 401: the scheme of the endpoint.'),
  required_scope: z.enum(SCOPES).optional().describe('With agent_scope_insufficient: what the call needs.'),
  granted_scopes: z.array(z.enum(SCOPES)).optional().describe('With agent_scope_insufficient: what the agent was granted.'),
  manage_url: z.string().optional().describe('With agent_scope_insufficient: where the person widens the grant.'),
  supported_versions: z.array(z.string()).optional(),
})
export type ErrorBody = z.infer<typeof ErrorBody>
