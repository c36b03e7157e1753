import type { ReasonTexts } from './reason-texts.ts'

/** Refusals of search, of the streams, of forwarders and of customer portals. */
export const serving = {
  search_timed_out: {
    status: 503,
    text: 'The search took too long and was stopped. Narrow it by from and to, by destination or by state, or try again in a moment.',
  },
  stream_key_required: {
    status: 401,
    text: 'This stream needs an active ingest key. Send it as "Authorization: Bearer ik_live_…" or as ?key=ik_live_….',
  },
  stream_limit_reached: {
    status: 429,
    text: 'This workspace has the maximum number of open streams for its plan. Close one, or try again after retry_after seconds.',
  },
  origin_not_allowed: {
    status: 403,
    text: 'A page from another origin cannot open this stream with your session. Use an admin API key instead.',
  },
  data_key_required: {
    status: 401,
    text: 'The Data API needs a Data API key. Create one under Data API, and send it as "Authorization: Bearer hdk_…".',
  },
  data_key_expired: {
    status: 401,
    text: 'This Data API key has expired. Create a new one, or give it a later expiry.',
  },
  data_key_limit_reached: {
    status: 409,
    text: 'This project has the maximum number of Data API keys. Revoke one that is no longer needed.',
  },
  not_acceptable: {
    status: 406,
    text: 'The Data API sends application/json, application/x-ndjson, text/csv and application/vnd.apache.parquet. Name one of them in Accept, or leave Accept out.',
  },
  forwarder_limit_reached: {
    status: 409,
    text: 'This project has the maximum number of forwarders. Delete one that is no longer needed.',
  },
  portal_token_required: {
    status: 401,
    text: 'The portal needs a portal token as "Authorization: Bearer hpt_…", or the cookie of a session. A token in the query is not accepted. Open the portal again from the product that you came from.',
  },
  portal_token_expired: {
    status: 401,
    text: 'This access to the portal has expired. Open the portal again from the product that you came from.',
  },
  portal_disabled: {
    status: 401,
    text: 'This portal is turned off. Ask the company that gave you access.',
  },
  portal_csrf_header_missing: {
    status: 403,
    text: 'A change made with the cookie of the portal needs the header X-Requested-With with the value fetch.',
  },
  portal_customer_mismatch: {
    status: 409,
    text: 'This portal serves another customer, whom customer_id and customer_name name. Use a portal of the right customer, or one that serves many customers.',
  },
  portal_limit_reached: {
    status: 409,
    text: 'This project has the maximum number of portals. Delete one that is no longer needed.',
  },
  customer_limit_reached: {
    status: 409,
    text: 'The portals of this project have the maximum number of customers. Delete customers that are no longer needed.',
  },
  portal_token_limit_reached: {
    status: 409,
    text: 'This customer has the maximum number of tokens. Wait until some expire, or revoke those that are no longer needed.',
  },
  portal_destination_limit_reached: {
    status: 409,
    text: 'You have the maximum number of destinations. Delete one that is no longer needed.',
  },
  customer_id_taken: {
    status: 409,
    text: 'This portal has a customer with this customer_id already. Choose another one.',
  },
  event_type_not_exposed: {
    status: 400,
    text: 'The portal does not expose this event type. GET /portal/api/event-types lists those that it does.',
  },
} as const satisfies ReasonTexts
