import type { ReasonTexts } from './reason-texts.ts'

/** Refusals about destinations, deliveries and replays. */
export const delivery = {
  delivery_allowance_exhausted: {
    status: 429,
    text: "The plan's deliveries of this month are used up. Replay it when the next month begins, after retry_after seconds, or move to a larger plan at upgrade_url.",
  },
  replay_limit_reached: {
    status: 409,
    text: 'This project has as many replays running or paused as it may have. Wait for one to end, or cancel one.',
  },
  invalid_url: { status: 400, text: 'The URL cannot be used as a destination.' },
} as const satisfies ReasonTexts
