import type { ReasonTexts } from './reason-texts.ts'

/** Refusals that any route of a surface may give. */
export const surfaces = {
  unauthorized: {
    status: 401,
    text: 'Sign in, or send an admin API key (hk_…) or an access token as "Authorization: Bearer …".',
  },
  rate_limited: {
    status: 429,
    text: 'Too many requests with this credential. Try again after retry_after seconds, at a lower rate.',
  },
  agent_not_permitted: { status: 403, text: 'API keys and connected agents cannot do this. Use the console.' },
  agent_scope_insufficient: {
    status: 403,
    text: 'This agent does not have the scope that this call needs. Widen its grant at manage_url; the change applies from the next request.',
  },
  idempotency_key_refused: {
    status: 400,
    text: 'This route takes no Idempotency-Key, because the server does not store its response. Send the request without it.',
  },
  idempotency_keys_exhausted: {
    status: 429,
    text: 'The maximum number of idempotency keys in 24 hours is used up. Send the request without one, or try again after retry_after seconds.',
  },
  csrf_header_missing: {
    status: 403,
    text: 'A change made with the session cookie needs the header X-Requested-With.',
  },
  insufficient_role: { status: 403, text: 'Insufficient role. Ask an admin of the workspace.' },
  project_out_of_scope: {
    status: 403,
    text: 'This key is for one project, and this request is outside it.',
  },
  not_found: {
    status: 404,
    text: 'Nothing with this id exists here. Check the id, and check that it belongs to this workspace and project.',
  },
  route_not_found: { status: 404, text: 'There is no such route. The list of routes is at /openapi.json.' },
  method_not_allowed: {
    status: 405,
    text: 'This address does not support this method. Use one that the Allow header names.',
  },
  unsupported_version: {
    status: 400,
    text: 'This server does not support this Service-Version. Send one of supported_versions, or leave the header out.',
  },
  invalid_request: { status: 400, text: 'The request is not valid.' },
  slug_taken: { status: 409, text: 'This slug is already in use in this project. Choose another.' },
  name_taken: { status: 409, text: 'This name is already in use in this project. Choose another.' },
  invalid_state: {
    status: 409,
    text: 'The current state does not allow this. Read the resource again and choose an action that its state allows.',
  },
  overlap_running: {
    status: 409,
    text: 'The secret or URL that an earlier rotation replaced still works, and this rotation would end it now. Wait until it expires, or send "end_overlap": true.',
  },
  malformed_request: { status: 400, text: 'This is not a valid HTTP request. Send HTTP/1.1.' },
  request_timeout: {
    status: 408,
    text: 'The request took too long to arrive. Send it again, and complete it within 30 seconds.',
  },
  headers_too_large: {
    status: 431,
    text: 'The URL and the headers are larger than 64 KiB, or there are more than 1,000 headers. Send fewer or shorter headers.',
  },
  work_limited: {
    status: 429,
    text: 'This workspace, URL or key has used up the work that its plan allows, or too much of its work is waiting. Send the request again after retry_after seconds.',
  },
  work_timed_out: {
    status: 503,
    text: 'The server took too long for this request and stopped it. Ask for less at once, or try again in a moment.',
  },
  work_too_large: {
    status: 422,
    text: 'This request needs more memory than the server has for one request. Ask for less at once.',
  },
  overloaded: { status: 503, text: 'The server is too busy. Try again in a moment.' },
  internal: {
    status: 500,
    text: 'Something failed on the server; your request was fine. Search the log for the request id.',
  },
} as const satisfies ReasonTexts
