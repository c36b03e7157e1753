import type { ReasonTexts } from './reason-texts.ts'

/** Refusals about destinations, deliveries and replays. */
export const delivery = {
  delivery_allowance_exhausted: {
    status: 429,
    text: "The plan's deliveries for this month are used up. Replay it when the next month starts, after retry_after seconds, or move to a larger plan at upgrade_url.",
  },
  replay_limit_reached: {
    status: 409,
    text: 'This project has the maximum number of running or paused replays. Wait until one ends, or cancel one.',
  },
  transform_limit_reached: {
    status: 409,
    text: 'This project has the maximum number of transforms. Delete one first.',
  },
  transform_in_use: {
    status: 409,
    text: 'Destinations run this transform. First set another transform for them, or null.',
  },
  invalid_url: { status: 400, text: 'The URL cannot be used as a destination.' },
} as const satisfies ReasonTexts
