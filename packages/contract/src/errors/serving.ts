import type { ReasonTexts } from './reason-texts.ts'

/** Refusals of search, of the streams and of forwarders. */
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
    text: 'This workspace has as many open streams as its plan allows. Close one, or try again after retry_after seconds.',
  },
  origin_not_allowed: {
    status: 403,
    text: 'A page of another origin may not open this stream with your session. Use an admin API key instead.',
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
    text: 'This project has as many forwarders as it may have. Delete one that is no longer needed.',
  },
} as const satisfies ReasonTexts
