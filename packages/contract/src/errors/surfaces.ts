import type { ReasonTexts } from './reason-texts.ts'

/** Refusals that any route of a surface may give. */
export const surfaces = {
  unauthorized: { status: 401, text: 'Sign in, or send an admin API key as "Authorization: Bearer hk_…".' },
  rate_limited: {
    status: 429,
    text: 'Too many requests at once with this credential. Go on after retry_after seconds, and more slowly.',
  },
  agent_not_permitted: { status: 403, text: 'No API key and no connected agent may do this. Do it in the console.' },
  agent_scope_insufficient: {
    status: 403,
    text: 'This agent was not granted what this needs. Widen the grant at manage_url; it counts from the next request on.',
  },
  idempotency_key_refused: {
    status: 400,
    text: 'This route takes no Idempotency-Key, because the server does not store its answer. Send the request without it.',
  },
  idempotency_keys_exhausted: {
    status: 429,
    text: 'As many idempotency keys were used as may be in 24 hours. Send the request without one, or come back after retry_after seconds.',
  },
  csrf_header_missing: {
    status: 403,
    text: 'A change made with the session cookie needs the header X-Requested-With.',
  },
  insufficient_role: { status: 403, text: 'Insufficient role. Ask an admin of the workspace.' },
  project_out_of_scope: {
    status: 403,
    text: 'This key is for one project, and this is outside it.',
  },
  not_found: {
    status: 404,
    text: 'There is nothing here with this id. Check the id, and that it belongs to this workspace and project.',
  },
  route_not_found: { status: 404, text: 'There is no such route. The list of routes is at /openapi.json.' },
  method_not_allowed: {
    status: 405,
    text: 'This address does not answer to this method. Use one that the Allow header names.',
  },
  unsupported_version: {
    status: 400,
    text: 'This Service-Version is not served here. Send one of supported_versions, or leave the header out.',
  },
  invalid_request: { status: 400, text: 'The request is not valid.' },
  slug_taken: { status: 409, text: 'This slug is already in use in this project. Choose another.' },
  name_taken: { status: 409, text: 'This name is already in use in this project. Choose another.' },
  invalid_state: {
    status: 409,
    text: 'This cannot be done in the state it is in. Read it again and choose what that state allows.',
  },
  overlap_running: {
    status: 409,
    text: 'The one that an earlier rotation replaced still works, and this would end it now. Wait until it ends, or send "end_overlap": true.',
  },
  malformed_request: { status: 400, text: 'This is not a valid HTTP request. Send HTTP/1.1.' },
  request_timeout: {
    status: 408,
    text: 'The request took too long to arrive. Send it again, whole, within 30 seconds.',
  },
  headers_too_large: {
    status: 431,
    text: 'The URL and the headers are larger than 64 KiB, or there are more than 1,000 headers. Send less in them.',
  },
  overloaded: { status: 503, text: 'The service is too busy just now. Try again in a moment.' },
  internal: {
    status: 500,
    text: 'Something went wrong here, not with your request. The request id finds it in the log.',
  },
} as const satisfies ReasonTexts
