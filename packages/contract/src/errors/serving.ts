import type { ReasonTexts } from './reason-texts.ts'

/** Refusals of search and of the streams. */
export const serving = {
  search_timed_out: {
    status: 503,
    text: 'The search took too long and was given up. Narrow it by from and to, by destination or by state, or try again in a moment.',
  },
  stream_key_required: {
    status: 401,
    text: 'This stream needs an ingest key that is in use. Send it as "Authorization: Bearer ik_live_…" or as ?key=ik_live_….',
  },
  stream_limit_reached: {
    status: 429,
    text: 'This workspace has as many streams open as its plan allows. Close one, or come back after retry_after seconds.',
  },
  origin_not_allowed: {
    status: 403,
    text: 'A page of another origin may not open this with your session. Use an admin API key instead.',
  },
} as const satisfies ReasonTexts
