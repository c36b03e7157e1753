import type { ReasonTexts } from './reason-texts.ts'

/** Refusals of search and of the streams. */
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
} as const satisfies ReasonTexts
